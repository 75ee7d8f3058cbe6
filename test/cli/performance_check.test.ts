import { expect, it, vi } from 'vitest';

import type * as Data from '../../lib/cli/performance/data.ts';
import type { End } from '../../lib/cli/performance/end.ts';
import { operations } from '../../lib/cli/performance/operation.ts';
import { runHca } from '../helpers/run_hca.ts';

// Memory is filled with wrong data: a bit of the first byte is inverted.
vi.mock('../../lib/cli/performance/data.ts', async (original) => {
  const data = await original<typeof Data>();
  return {
    ...data,
    fillMemory: (end: End, run: Data.Run): void => {
      data.fillMemory(end, run);
      for (const memory of ['local', 'exposed'] as const) end.area(memory, 0)[0]! ^= 0x80;
    },
  };
});

it.each(['lat', 'bw'].flatMap((command) => operations.map((operation) => [command, operation] as const)))(
  'hca %s %s finds data that is wrong where --chk is given, and looks for none elsewhere',
  async (command, operation) => {
    const size = operation === 'atomic' ? [] : ['-s', '64'];
    const words = [command, operation, ...size, '-n', '20', '--warmup', '0', '--device', 'emu:'];
    expect(await runHca(words)).toMatchObject({ exitCode: 0, error: '' });
    expect(await runHca([...words, '--chk'])).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('invalid data: ') as string,
    });
  },
);
