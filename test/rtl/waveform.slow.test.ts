import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { root } from './blocks.ts';

const { draw, simulate, wavesOf } = (await import(`${root}fpga/scripts/waveform.mjs`)) as {
  draw(waves: ReadonlyMap<string, readonly boolean[]>): string;
  simulate(): string;
  wavesOf(dump: string): Map<string, boolean[]>;
};

it(
  'the documented waveform matches a new simulation (npm run fpga:waveform)',
  { timeout: 600_000 },
  (context) => {
    requireTool('verilator', context);
    expect(readFileSync(`${root}fpga/doc/figures/hca_front.svg`, 'utf8')).toBe(draw(wavesOf(simulate())));
  },
);
