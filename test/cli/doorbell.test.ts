import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { parts } from '../../lib/cli/doorbell_measurement.ts';
import { histogramOf, histogramText, statisticsOf } from '../../lib/cli/output/statistics.ts';
import { runHca } from './run_hca.ts';

interface Measured {
  readonly device: string;
  readonly warnings: readonly string[];
  readonly measurements: readonly {
    readonly payloadBytes: number;
    readonly parts: Readonly<
      Record<string, { samples: number; minimum: number; median: number; maximum: number }>
    >;
    readonly histogram: readonly { count: number }[];
    readonly floor: { samples: number };
    readonly ratio: number;
  }[];
}

const board = 'queuePairs=64&pageTableEntries=1024';
const few = ['--iterations', '50', '--warmup', '5'];

describe.each(['shared', 'own'])('hca doorbell, progress %s', (progress) => {
  const device = `emu:?progress=${progress}&${board}`;

  it('tells the statistics of every part for every payload', async () => {
    const { exitCode, out } = await runHca(['doorbell', ...few, '--device', device, '--json']);
    expect(exitCode).toBe(0);
    const measured = JSON.parse(out) as Measured;
    expect(measured.measurements.map(({ payloadBytes }) => payloadBytes)).toEqual([0, 32, 64, 96, 128, 256]);
    for (const { parts: statistics, histogram, floor } of measured.measurements) {
      expect(Object.keys(statistics)).toEqual(parts.map(({ name }) => name));
      for (const { samples, minimum, median, maximum } of Object.values(statistics)) {
        expect(samples).toBe(50);
        expect([minimum, median, maximum]).toEqual(
          [minimum, median, maximum].sort((one, other) => one - other),
        );
      }
      expect(histogram.reduce((sum, { count }) => sum + count, 0)).toBe(50);
      expect(floor.samples).toBe(50);
    }
  });

  it('writes every sample to a file, and parts that add up', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-'));
    try {
      const file = path.join(directory, 'samples.csv');
      await runHca(['doorbell', ...few, '--device', device, '--size', '96', '--samples', file]);
      const [header, ...rows] = readFileSync(file, 'utf8').trim().split('\n');
      expect(header).toBe(
        'payload_bytes,post,callToLastStore_ns,fence_ns,lastStoreToKick_ns,firstWriteToKick_ns,kickToRecord_ns,lastStoreToRecord_ns',
      );
      expect(rows.length).toBe(50);
      for (const [index, row] of rows.entries()) {
        const [payload, post, a, b, c, d, e, g] = row.split(',').map(Number);
        expect([payload, post]).toEqual([96, index]);
        for (const time of [a, b, d, g]) expect(time).toBeGreaterThanOrEqual(0);
        // (c) and (e) meet at the kick.
        expect(Math.abs(c! + e! - g!)).toBeLessThan(0.3);
        expect(g!).toBeGreaterThanOrEqual(b!);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('is a text that says what was measured how', async () => {
    const { out, error } = await runHca(['doorbell', ...few, '--device', device, '--size', '64']);
    expect(out).toContain(`Doorbell latency on ${device}: 50 stamped posts of each payload`);
    expect(out).toContain(`progress ${progress}; clock: `);
    expect(out.includes('(c) last store to kick *')).toBe(progress === 'shared');
    expect(out).toMatch(/A whole post takes \d+ ns with stamps, \d+ ns without\./);
    expect(out).toMatch(/floor: cache-line round trip +\d+/);
    expect(error).toMatch(/warning: not pinned to a CPU: the posting thread \(--cpu\) and the device thread/);
  });
});

describe('statistics', () => {
  it('are those of the samples', () => {
    const samples = Float64Array.from({ length: 1000 }, (_, index) => 999 - index);
    expect(statisticsOf(samples)).toEqual({
      samples: 1000,
      minimum: 0,
      median: 500,
      percentile99: 990,
      percentile999: 999,
      maximum: 999,
    });
    expect(statisticsOf(Float64Array.of(7))).toMatchObject({
      minimum: 7,
      median: 7,
      percentile999: 7,
      maximum: 7,
    });
  });

  it('a histogram counts every sample once', () => {
    const bins = histogramOf(Float64Array.of(10, 10, 11, 12, 500), 4);
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(5);
    expect(bins.at(-1)!.to).toBeGreaterThan(500);
    for (const [index, { from }] of bins.entries()) if (index > 0) expect(from).toBe(bins[index - 1]!.to);
    expect(histogramText(bins).split('\n').length).toBe(bins.length + 1);
  });
});
