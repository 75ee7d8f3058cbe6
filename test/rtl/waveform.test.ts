import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { root } from './blocks.ts';

const { draw, signals, wavesOf } = (await import(`${root}fpga/scripts/waveform.mjs`)) as {
  draw(waves: ReadonlyMap<string, readonly boolean[]>): string;
  signals: readonly string[];
  wavesOf(dump: string): Map<string, boolean[]>;
};

describe('the waveform of a command', () => {
  const declarations = signals.map((name, index) => `$var wire  1 ${index}! ${name} $end\n`).join('');

  it('is read from the simulation, where a signal keeps its value until it changes', () => {
    const waves = wavesOf(`${declarations}#0\n00!\n14!\n#1\n10!\nb0101 x\n#2\n04!\n`);
    expect(waves.get(signals[0]!)).toEqual([false, true, true]);
    expect(waves.get(signals[4]!)).toEqual([true, true, false]);
    expect(() => wavesOf(`${declarations.replace('kick_started', 'other')}#0\n00!\n`)).toThrow(
      'kick_started',
    );
  });

  it('is drawn as one line per signal, high above low', () => {
    const drawn = draw(new Map([['kick', [false, true]]]));
    const points = /points="([^"]+)"/
      .exec(drawn)![1]!
      .split(' ')
      .map((point) => point.split(',').map(Number));
    const [from, , to] = points;
    expect(points).toHaveLength(4);
    expect(from![1]).toBeGreaterThan(to![1]!);
    expect(drawn).toContain('>kick</text>');
  });

  it('is documented with every signal', () => {
    const figure = readFileSync(`${root}fpga/doc/figures/hca_front.svg`, 'utf8');
    expect(signals.filter((name) => !figure.includes(`>${name}</text>`))).toEqual([]);
  });
});
