import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { LogScale } from '../../lib/cli/plot/log_scale.ts';
import { bandwidthQuantity, latencyQuantity, type PlotRun } from '../../lib/cli/plot/run.ts';
import { distributionSvg } from '../../lib/cli/plot/svg.ts';
import { runHca } from '../helpers/run_hca.ts';

const small = 'queuePairs=64&pageTableEntries=1024&memoryKeys=256';

/**
 * Names of the elements of a picture, in order.
 * @throws Error it is not well formed
 */
function elementsOf(svg: string): string[] {
  const open: string[] = [];
  const names: string[] = [];
  for (const [, slash, name, , closed] of svg.matchAll(
    /<(\/?)([a-z]+)((?:\s+[\w:-]+="[^"<>]*")*)\s*(\/?)>/g,
  )) {
    if (slash === '/') expect(open.pop()).toBe(name);
    else {
      names.push(name!);
      if (closed !== '/') open.push(name!);
    }
  }
  expect(open).toEqual([]);
  // No text that looks like a tag is left out.
  expect(svg.match(/</g)).toHaveLength(
    svg.match(/<(\/?)([a-z]+)((?:\s+[\w:-]+="[^"<>]*")*)\s*(\/?)>/g)!.length,
  );
  return names;
}

const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!);

const run = (label: string, values: readonly number[]): PlotRun => ({
  label,
  samples: Float64Array.from(values),
});
const texts = { title: 'A <title> & more', note: 'how', quantity: latencyQuantity };

describe('a plot of distributions', () => {
  it('has a curve, a histogram and a row of the table for each run, and its median', () => {
    const runs = [run('0 B', [100, 200, 300, 400, 5000]), run('64 B', [1500, 1500, 1600])];
    const svg = distributionSvg(runs, texts);
    const elements = elementsOf(svg);
    expect(elements.filter((name) => name === 'polyline')).toHaveLength(2);
    expect(elements.filter((name) => name === 'polygon')).toHaveLength(2);
    expect(elements.filter((name) => name === 'circle')).toHaveLength(2);
    const found = textsOf(svg);
    expect(found).toContain('A &lt;title&gt; &amp; more');
    expect(found.filter((text) => text === '300 ns')).toHaveLength(2); // beside the histogram, and in the table
    expect(found.filter((text) => text === '1.50 µs').length).toBeGreaterThanOrEqual(2);
    expect(found.filter((text) => text === '5.00 µs').length).toBeGreaterThanOrEqual(1);
    expect(found).toContain('share of samples up to');
  });

  it('draws the curve of each run from none of its samples to all', () => {
    const svg = distributionSvg(
      [
        run(
          'x',
          Array.from({ length: 1000 }, (_, index) => 1000 + index),
        ),
      ],
      texts,
    );
    const [, points] = /<polyline[^>]*points="([^"]*)"/.exec(svg)!;
    const heights = points!.split(' ').map((point) => Number(point.split(',')[1]));
    expect(heights).toEqual(heights.toSorted((one, other) => other - one)); // y grows downwards
    expect(heights[0]! - heights.at(-1)!).toBeGreaterThan(270);
  });

  it('draws runs of one sample, and of equal samples', () => {
    expect(() => elementsOf(distributionSvg([run('one', [7])], texts))).not.toThrow();
    const equal = distributionSvg([run('equal', [5e8, 5e8, 5e8])], { ...texts, quantity: bandwidthQuantity });
    expect(textsOf(equal)).toContain('500 MB/s');
    expect(equal).not.toMatch(/NaN|Infinity/);
  });

  it('has an axis with labels in order, without overlap, and within it', () => {
    const ranges = [
      fc.double({ min: 1, max: 1e9, noNaN: true }),
      fc.double({ min: 1.0001, max: 1e6, noNaN: true }),
    ] as const;
    const holds = fc.property(...ranges, (low, factor) => {
      const scale = new LogScale([low, low * factor], [100, 500]);
      const places = scale.ticks(62).map((tick) => scale.place(tick));
      for (const [index, place] of places.entries()) {
        expect(place).toBeGreaterThanOrEqual(100);
        expect(place).toBeLessThanOrEqual(500);
        if (index > 0) expect(place - places[index - 1]!).toBeGreaterThanOrEqual(50);
      }
      expect(places.length).toBeLessThan(9);
    });
    fc.assert(holds, { seed: 27, numRuns: 500 });
  });
});

describe('--plot', () => {
  it.each([
    ['doorbell', '--iterations', '20', '--warmup', '2', '--device', `emu:?${small}`],
    ['lat', 'send', '--iters', '50', '-c', 'UD', '--device', `emu:?${small}`],
    ['bw', 'write', '--iters', '200', '--size', '64', '--device', `emu:?${small}`],
  ])('of hca %s writes a plot', async (...words) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-plot-'));
    try {
      const file = path.join(folder, 'plot.svg');
      const { exitCode } = await runHca([...words, '--plot', file]);
      expect(exitCode).toBe(0);
      const svg = readFileSync(file, 'utf8');
      expect(elementsOf(svg)).toContain('polyline');
      const runs = words[0] === 'doorbell' ? 6 : 1;
      expect(svg.match(/<polyline/g)).toHaveLength(runs);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('refuses a file that cannot be written, before it measures', async () => {
    const { exitCode, error } = await runHca(['lat', 'send', '--plot', '/nonexistent/plot.svg']);
    expect([exitCode, existsSync('/nonexistent')]).toEqual([1, false]);
    expect(error).toMatch(
      /^hca: the plot \/nonexistent\/plot.svg cannot be written: ENOENT.*; expected: a file/,
    );
    const timed = await runHca(['lat', 'send', '--duration', '1', '--plot', 'x.svg']);
    expect([timed.exitCode, timed.error]).toEqual([
      2,
      expect.stringMatching(/leave out --plot or --duration/),
    ]);
  });
});
