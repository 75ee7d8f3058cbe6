import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { isListed } from '../../lib/cli/cpus.ts';
import { parts, roundsOf } from '../../lib/cli/doorbell_measurement.ts';
import { histogramOf, histogramText, statisticsOf } from '../../lib/cli/output/statistics.ts';
import { runHca } from '../helpers/run_hca.ts';

interface Measured {
  readonly device: string;
  readonly warnings: readonly string[];
  readonly measurements: readonly {
    readonly payloadBytes: number;
    readonly parts: Readonly<
      Record<string, { samples: number; minimum: number; median: number; maximum: number }>
    >;
    readonly histogram: readonly { count: number }[];
    readonly completionHistogram: readonly { count: number }[];
    readonly floor?: { samples: number };
    readonly ratio?: number;
    readonly lastStoreToRecordUnpaced?: { samples: number };
  }[];
  readonly fences: readonly {
    readonly commandsPerFence: number;
    readonly storedPerSecond: number;
    readonly completedPerSecond: number;
  }[];
  readonly published: readonly { what: string; microseconds: number; source: string }[];
}

const board = 'queuePairs=64&pageTableEntries=1024&memoryKeys=256';
const posts = 15; // each is a wait for another thread, which takes long on a busy machine
const few = ['--iterations', `${posts}`, '--warmup', '2'];

describe.each(['shared', 'own'])('hca doorbell, progress %s', (progress) => {
  const device = `emu:?progress=${progress}&${board}`;

  it('prints statistics of every part for every payload', async () => {
    const { exitCode, out } = await runHca(['doorbell', ...few, '--device', device, '--json']);
    expect(exitCode).toBe(0);
    const measured = JSON.parse(out) as Measured;
    expect(measured.measurements.map(({ payloadBytes }) => payloadBytes)).toEqual([0, 32, 64, 96, 128, 256]);
    for (const { lastStoreToRecordUnpaced } of measured.measurements)
      expect(lastStoreToRecordUnpaced?.samples).toBe(progress === 'shared' ? undefined : posts);
    for (const { parts: statistics, histogram, completionHistogram, floor, ratio } of measured.measurements) {
      expect(Object.keys(statistics)).toEqual(parts.map(({ name }) => name));
      for (const { samples, minimum, median, maximum } of Object.values(statistics)) {
        expect(samples).toBe(posts);
        expect([minimum, median, maximum]).toEqual(
          [minimum, median, maximum].sort((one, other) => one - other),
        );
      }
      for (const bins of [histogram, completionHistogram]) {
        expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(posts);
      }
      expect(floor?.samples).toBe(progress === 'shared' ? undefined : posts);
      expect(typeof ratio).toBe(progress === 'shared' ? 'undefined' : 'number');
    }
  });

  it('prints the cost of fences and published figures of adapters', async () => {
    const words = ['doorbell', ...few, '--size', '0', '--device', device, '--json'];
    const { fences, published } = JSON.parse((await runHca(words)).out) as Measured;
    expect(fences.map(({ commandsPerFence }) => commandsPerFence)).toEqual([1, 16, 32]);
    for (const { storedPerSecond, completedPerSecond } of fences) {
      expect(completedPerSecond).toBeGreaterThan(0);
      expect(storedPerSecond).toBeGreaterThanOrEqual(completedPerSecond);
    }
    expect(published.map(({ microseconds }) => microseconds)).toEqual([0.93, 1.32, 1.91, 0.85]);
  });

  it('writes every sample to a file, with parts that add up', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-'));
    try {
      const file = path.join(directory, 'samples.csv');
      await runHca(['doorbell', ...few, '--device', device, '--size', '96', '--samples', file]);
      const [header, ...rows] = readFileSync(file, 'utf8').trim().split('\n');
      expect(header).toBe(
        'payload_bytes,post,callToLastStore_ns,fence_ns,lastStoreToKick_ns,firstWriteToKick_ns,kickToRecord_ns,postToCompletion_ns,lastStoreToRecord_ns',
      );
      expect(rows.length).toBe(posts);
      for (const [index, row] of rows.entries()) {
        const [payload, post, a, b, c, d, e, f, g] = row.split(',').map(Number);
        expect([payload, post]).toEqual([96, index]);
        for (const time of [a, b, d, g]) expect(time).toBeGreaterThanOrEqual(0);
        // (c) and (e) meet at the kick.
        expect(Math.abs(c! + e! - g!)).toBeLessThan(0.3);
        expect(g!).toBeGreaterThanOrEqual(b!);
        expect(f! + 0.2).toBeGreaterThanOrEqual(a! + g!);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('prints the measurement and its settings as text', async () => {
    const { out, error } = await runHca(['doorbell', ...few, '--device', device, '--size', '64']);
    expect(out).toContain(
      `Doorbell latency on ${device}, nanoseconds:\n${posts} stamped posts of each payload, one at a time\n`,
    );
    expect(out).toContain(`progress ${progress}; clock: `);
    expect(out).toMatch(/^ {4}\(f\):\n(.* ns .*\n)+ {4}\(g\):\n(.* ns .*\n)+/m);
    for (const part of ['(c) last store to kick', '(f) post to completion']) {
      expect(out).toContain(part);
      expect(out.includes(`${part} *`)).toBe(progress === 'shared');
    }
    expect(out).toMatch(
      /^commands for each fence +stored.*\n1( +[\d.]+){2}\n16( +[\d.]+){2}\nnone until a page/m,
    );
    expect(out).toMatch(/^ConnectX, 64 B write, inline +0\.93 +linux-rdma\/perftest issue 131$/m);
    expect(out.includes('(g), never pausing')).toBe(progress === 'own');
    expect(out.includes('waited for by the paced poller')).toBe(progress === 'own');
    // If nothing crosses between CPUs there is no floor.
    if (progress === 'shared') {
      expect(out).toMatch(/^payload B +headline \(g\) +completion \(f\)\n +64( +[\d.]+){2}\n/m);
      expect(out).not.toContain('/ floor');
      expect(out).not.toContain('cache-line round trip');
    } else {
      expect(out).toMatch(/floor +headline \/ floor +\(f\) \/ floor\n +64( +[\d.]+){5}\n/);
      expect(out).toMatch(/floor: cache-line round trip +\d+/);
    }
    expect(out).toMatch(
      /A whole post takes\n +\d+ ns with stamps, \d+ ns without; a stamp takes [\d.]+ ns\./,
    );
    const [, ...lines] = out.split('\n'); // the first has the device string
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(error).toMatch(/warning: not pinned to a CPU: the posting thread \(--cpu\) and the device thread/);
  });
});

describe('hca doorbell options', () => {
  const device = `emu:?${board}`;

  it('takes the requested number of samples, fewer or more than rounds', async () => {
    for (const iterations of [1, 15]) {
      const { out } = await runHca([
        'doorbell',
        '--iterations',
        `${iterations}`,
        '--size',
        '0',
        '--device',
        `emu:?progress=own&${board}`,
        '--json',
      ]);
      const [{ parts: statistics, floor }] = (JSON.parse(out) as Measured).measurements as [
        Measured['measurements'][0],
      ];
      expect(statistics['lastStoreToRecord']!.samples).toBe(iterations);
      expect(floor!.samples).toBe(iterations);
    }
  });

  it('divides posts into short rounds and loses none', () => {
    for (const total of [0, 1, 9, 10, 11, 12_345, 100_001, 1_000_003]) {
      const rounds = roundsOf(total, 10);
      expect(rounds.reduce((sum, each) => sum + each, 0)).toBe(total);
      expect(rounds.length).toBeGreaterThanOrEqual(Math.min(total, 10));
      for (const each of rounds) {
        expect(each).toBeGreaterThan(0);
        expect(each).toBeLessThanOrEqual(10_000);
      }
    }
  });

  it('reports an interrupt and ends', async () => {
    const interrupted = new AbortController();
    const running = runHca(
      ['doorbell', '--iterations', '1000000000', '--size', '0', '--device', device],
      interrupted.signal,
    );
    setImmediate(() => interrupted.abort());
    const { exitCode, error } = await running;
    expect(exitCode).toBe(1);
    expect(error).toMatch(/^hca: interrupted$/m);
  });

  it('refuses a file that cannot be written before it measures', async () => {
    const { exitCode, out, error } = await runHca([
      'doorbell',
      ...few,
      '--device',
      device,
      '--samples',
      '/nonexistent/x.csv',
    ]);
    expect(exitCode).toBe(1);
    expect(out).toBe('');
    expect(error).toMatch(/^hca: ENOENT: .*'\/nonexistent\/x\.csv'\n$/);
  });

  it.each([
    [['--cpu', '99999'], '--cpu'],
    [['--device-cpu', '99999'], '--device-cpu'],
    [['--device', `${device}&progress=own&deviceCpu=99999`], '--device-cpu'],
  ])('refuses a nonexistent CPU: %j', async (words, option) => {
    const { exitCode, out, error } = await runHca(['doorbell', ...few, '--device', device, ...words]);
    expect(exitCode).toBe(1);
    expect(out).toBe('');
    expect(error).toMatch(
      new RegExp(
        `^hca: CPU 99999 of ${option} is not one that this process may run on; expected: one of \\d`,
      ),
    );
  });

  it.each(['3', '66', '260', '-4', '1e1'])('refuses a payload of %s B and names its option', async (size) => {
    const { exitCode, out, error } = await runHca(['doorbell', '--device', device, '--size', size]);
    expect(exitCode).toBe(2);
    expect(out).toBe('');
    expect(error).toMatch(/'--size <bytes>'.* It must be a multiple of 4 from 0 to 256\.\n$/);
  });

  it('detects a device string that pins the device thread', async () => {
    const allowed = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
    const pinned = `${device}&progress=own&deviceCpu=${allowed}`;
    const { error } = await runHca(['doorbell', ...few, '--size', '0', '--device', pinned]);
    expect(error).toMatch(/not pinned to a CPU: the posting thread \(--cpu\); figures vary more/);
  });

  it('reads lists of CPUs', () => {
    expect([0, 1, 3, 4, 7, 8, 9].filter((cpu) => isListed('0-1,4-7,9', cpu))).toEqual([0, 1, 4, 7, 9]);
  });
});

describe('statistics', () => {
  it('match the samples', () => {
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
    for (const [index, { from }] of bins.entries())
      if (index > 0) expect(from).toBeGreaterThanOrEqual(bins[index - 1]!.to);
    expect(histogramText(bins).split('\n').length).toBe(bins.length + 1);
  });

  it('a histogram resolves most samples, however far the outliers are', () => {
    const samples = Float64Array.from(
      { length: 10_000 },
      (_, index) => 290 + (index % 40) + (index > 9990 ? 60_000 : 0),
    );
    const bins = histogramOf(samples);
    expect(bins.length).toBeGreaterThan(8);
    expect(bins.length).toBeLessThan(24);
    expect(Math.max(...bins.map(({ count }) => count))).toBeLessThan(2000);
    expect(bins.at(-1)).toMatchObject({ count: 9 });
  });
});
