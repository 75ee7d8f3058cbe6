import { describe, expect, it } from 'vitest';

import { checkAtomics, checkData, fillMemory, type Run } from '../../lib/cli/performance/data.ts';
import { drive } from '../../lib/cli/performance/drive.ts';
import { connectEnds } from '../../lib/cli/performance/ends.ts';
import { Idle } from '../../lib/cli/idle.ts';
import { Scope } from '../../lib/cli/scope.ts';
import { Stopwatch } from '../../lib/cli/performance/stopwatch.ts';
import { spreadOf } from '../../lib/cli/output/statistics.ts';
import { Progress } from '../../lib/cli/output/progress.ts';
import { runHca } from '../helpers/run_hca.ts';

const board = (progress: string): string =>
  `emu:?progress=${progress}&queuePairs=64&pageTableEntries=4096&memoryKeys=256`;
const operations = ['send', 'write', 'read', 'atomic'] as const;

interface Latencies {
  readonly results: readonly Readonly<
    Record<'bytes' | 'iterations' | 'minimum' | 'typical' | 'percentile99' | 'maximum', number> & {
      histogram: readonly { count: number }[];
      samples: readonly number[];
    }
  >[];
}

interface Bandwidths {
  readonly results: readonly Readonly<
    Record<'bytes' | 'iterations' | 'peak' | 'average' | 'messagesPerSecond', number>
  >[];
}

async function measured<Measured>(words: readonly string[]): Promise<Measured> {
  const { exitCode, error, json } = await runHca([...words, '--json']);
  expect(error).toBe('');
  expect(exitCode).toBe(0);
  return json()[0] as Measured;
}

describe.each(operations)('hca lat %s', (operation) => {
  it.each(['shared', 'own'])('measures messages and compares them, progress %s', async (progress) => {
    const words = ['--iters', '60', '--warmup', '4', '--chk', '-H', '-U', '--device', board(progress)];
    const { results } = await measured<Latencies>(['lat', operation, ...words]);
    expect(results.map(({ bytes, iterations }) => [bytes, iterations])).toEqual([
      [operation === 'atomic' ? 8 : 2, 60],
    ]);
    const [{ minimum, typical, percentile99, maximum, histogram, samples }] = results as [
      Latencies['results'][0],
    ];
    expect(minimum).toBeGreaterThan(0);
    expect([minimum, typical, percentile99, maximum]).toEqual(
      [minimum, typical, percentile99, maximum].sort((one, other) => one - other),
    );
    expect(histogram.reduce((sum, { count }) => sum + count, 0)).toBe(60);
    expect(samples).toHaveLength(60);
    expect(Math.max(...samples)).toBe(maximum);
  });

  it("prints perftest's columns", async () => {
    const { out } = await runHca(['lat', operation, '-n', '5', '--warmup', '0', '--device', board('shared')]);
    expect(out).toMatch(
      /#bytes +#iterations +t_min\[usec\] +t_max\[usec\] +t_typical\[usec\] +t_avg\[usec\] +t_stdev\[usec\] +99% +99.9%\n\d+ +5( +\d+\.\d\d){7}\n$/,
    );
  });
});

describe('end-to-end credits', () => {
  it.each(['lat', 'bw'])(
    'hca %s send compares messages, and prints that it uses credits',
    async (command) => {
      const words = [
        command,
        'send',
        '--iters',
        '60',
        '--warmup',
        '4',
        '--chk',
        '-r',
        '4',
        '--end-to-end-credits',
      ];
      const { exitCode, error, out } = await runHca([...words, '--device', board('shared')]);
      expect([exitCode, error]).toEqual([0, '']);
      expect(out).toMatch(/End-to-end credits: +on\n/);
    },
  );
});

describe.each([
  ['UC', 'send', 2],
  ['UC', 'write', 2],
  ['UD', 'send', 2],
] as const)('of %s', (type, operation, bytes) => {
  const words = [operation, '-c', type, '--iters', '60', '--warmup', '4', '--chk'];

  it.each(['shared', 'own'])(
    `hca lat ${operation} measures messages and compares them, progress %s`,
    async (progress) => {
      const { results } = await measured<Latencies>(['lat', ...words, '--device', board(progress)]);
      expect(results).toMatchObject([{ bytes, iterations: 60 }]);
      expect(results[0]!.minimum).toBeGreaterThan(0);
    },
  );

  it(`hca bw ${operation} measures messages, compares them, and counts lost ones`, async () => {
    const run = await runHca(['bw', ...words, '-t', '16', '--device', board('shared'), '--json']);
    expect([run.exitCode, run.error]).toEqual([0, '']);
    const [{ results }] = run.json() as [{ results: { bytes: number; iterations: number; lost?: number }[] }];
    expect(results[0]).toMatchObject({ iterations: 60, bytes: type === 'UD' ? 1024 : 65_536 });
    expect(results[0]!.lost).toBe(operation === 'send' ? 0 : undefined);
  });

  it('names the service in its heading', async () => {
    const { out } = await runHca(['lat', ...words, '--device', board('shared')]);
    expect(out).toMatch(new RegExp(`^ Connection type: +${type}$`, 'm'));
  });
});

it('hca bw warns of messages without a receive', async () => {
  const words = ['bw', 'send', '-c', 'UD', '-n', '2000', '-r', '1', '-t', '128', '--device', board('shared')];
  const { exitCode, error } = await runHca(words);
  expect(exitCode).toBe(0);
  expect(error).toMatch(
    /^hca: warning: \d+ messages did not arrive: UD repeats nothing; --rx-depth gives more room\n$/,
  );
});

describe.each(operations)('hca bw %s', (operation) => {
  it.each(['shared', 'own'])('measures messages and compares them, progress %s', async (progress) => {
    const words = ['--iters', '60', '--warmup', '4', '-t', '16', '--chk', '--device', board(progress)];
    const { results } = await measured<Bandwidths>(['bw', operation, ...words]);
    expect(results.map(({ bytes, iterations }) => [bytes, iterations])).toEqual([
      [operation === 'atomic' ? 8 : 65_536, 60],
    ]);
    const [{ bytes, peak, average, messagesPerSecond }] = results as [Bandwidths['results'][0]];
    expect(average).toBeGreaterThan(0);
    expect(peak).toBeGreaterThanOrEqual(average);
    expect(average).toBeCloseTo(messagesPerSecond * bytes, 3);
  });

  it('uses the requested queue pairs, directions, lists and signals', async () => {
    const words = ['-q', '3', '-b', '-t', '16', '-l', '4', '-Q', '13', '-n', '101', '-N', '-s', '8', '--chk'];
    const { results } = await measured<Bandwidths>(['bw', operation, ...words, '--device', board('shared')]);
    expect(results).toMatchObject([{ bytes: 8, iterations: 303, peak: 0 }]);
  });

  it("prints perftest's columns", async () => {
    const words = ['-n', '5', '--warmup', '0', '-t', '2', '--device', board('shared')];
    const { out } = await runHca(['bw', operation, ...words]);
    expect(out).toMatch(
      /#bytes +#iterations +BW peak\[MB\/sec\] +BW average\[MB\/sec\] +MsgRate\[Mpps\]\n\d+ +5( +\d+\.\d+){3}\n$/,
    );
    const gigabits = await runHca(['bw', operation, ...words, '--report_gbits']);
    expect(gigabits.out).toContain('BW average[Gb/sec]');
  });
});

describe('hca lat and hca bw', () => {
  const device = ['--device', board('shared')];

  it('measure all sizes, around every number of packets', async () => {
    const few = ['-a', '-n', '2', '--warmup', '0', '--chk', '-m', '4096', '--device', 'emu:'];
    for (const command of ['lat', 'bw']) {
      const { results } = await measured<Bandwidths>([command, 'write', ...few]);
      expect(results.map(({ bytes }) => bytes)).toEqual(
        Array.from({ length: 23 }, (_, index) => 2 ** (index + 1)),
      );
    }
  });

  it('run for a given time', async () => {
    const timed = ['-D', '1', '-s', '64', '--warmup', '0', '--chk', ...device];
    const latency = await runHca(['lat', 'read', ...timed]);
    expect(latency.out).toMatch(
      /#bytes +#iterations +t_avg\[usec\] +tps average\n64 +\d+ +\d+\.\d\d +\d+\.\d\d\n$/,
    );
    const { results } = await measured<Bandwidths>(['bw', 'send', ...timed]);
    expect(results[0]!.iterations).toBeGreaterThan(128);
  });

  it('send no data packets if a message has no data', async () => {
    expect((await runHca(['lat', 'send', '-s', '1', '-n', '40', '--chk', ...device])).exitCode).toBe(0);
    expect(
      (await runHca(['bw', 'write', '-s', '1', '-n', '200', '-I', '64', '--chk', ...device])).exitCode,
    ).toBe(0);
  });

  it.each(['send', 'read', 'atomic'])(
    'sleep until completions of a %s arrive, with --events',
    async (operation) => {
      const words = ['-e', '-n', '30', '--warmup', '2', '--chk'];
      for (const progress of ['shared', 'own']) {
        const { results } = await measured<Latencies>([
          'lat',
          operation,
          ...words,
          '--device',
          board(progress),
        ]);
        expect(results[0]!.iterations).toBe(30);
      }
    },
  );

  it('do not sleep if nothing completes', async () => {
    const { exitCode, error } = await runHca(['lat', 'write', '-e', ...device]);
    expect([exitCode, error]).toEqual([2, expect.stringContaining('leave out --events')]);
  });

  it('end on an interrupt', async () => {
    for (const words of [
      ['lat', 'send', '-n', '1000000000'],
      ['bw', 'write', '-n', '1000000000'],
    ]) {
      const interrupted = new AbortController();
      const running = runHca([...words, ...device], interrupted.signal);
      setImmediate(() => interrupted.abort());
      expect(await running).toMatchObject({ exitCode: 1, error: 'hca: interrupted\n' });
    }
  });

  it.each([
    [['lat', 'frobnicate'], 2, /Allowed choices are send, write, read, atomic\.\n$/],
    [['lat', 'send', '-s', '64', '-a'], 2, /^hca: --all measures every size: leave out --size or --all\n$/],
    [['bw', 'atomic', '-a'], 2, /^hca: an atomic always has 8 B: leave out --all\n$/],
    [['bw', 'atomic', '-s', '64'], 2, /^hca: an atomic has 8 B, not 64: leave out --size\n$/],
    [['lat', 'write', '-s', '0'], 2, /It must be 1 to 1073741824\.\n$/],
    [
      ['lat', 'read', '-I', '64'],
      2,
      /^hca: inline data is only for send and write, not read: leave out --inline_size\n$/,
    ],
    [['lat', 'send', '-I', '257'], 2, /It must be 0 to 256\.\n$/],
    [
      ['bw', 'send', '-n', '5', '-D', '1'],
      2,
      /^hca: --iters and --duration exclude each other: leave out one/,
    ],
    [['bw', 'send', '-t', '4', '-l', '5'], 2, /^hca: --post_list is 5, but must be at most --tx-depth, 4\n$/],
    [['bw', 'send', '-t', '4', '-Q', '5'], 2, /^hca: --cq-mod is 5, but must be at most 4: this many fit/],
    [['bw', 'send', '-q', '100', '-r', '512'], 2, /64000 entries; a device has 32768 at most: fewer of --qp/],
    [['bw', 'send', '-m', '1000'], 2, /It must be 256, 512, 1024, 2048, 4096\.\n$/],
    [['lat', 'atomic', '-A', 'SWAP'], 2, /Allowed choices are CMP_AND_SWAP, FETCH_AND_ADD\.\n$/],
    [['lat', 'send', '-c', 'XC'], 2, /Allowed choices are RC, UC, UD\.\n$/],
    [['lat', 'read', '-c', 'UC'], 2, /UC does not support read: use --connection RC\n$/],
    [['bw', 'atomic', '-c', 'UC'], 2, /UC does not support atomic: use --connection RC\n$/],
    [['bw', 'write', '-c', 'UD'], 2, /a datagram can only be a send, not write: use --connection RC\n$/],
    [
      ['bw', 'write', '--end-to-end-credits'],
      2,
      /only SENDs of a reliable connection need credits: leave out/,
    ],
    [
      ['lat', 'send', '-c', 'UC', '--end-to-end-credits'],
      2,
      /only SENDs of a reliable connection need credits/,
    ],
    [['lat', 'send', '-c', 'UD', '-s', '4097'], 2, /one packet: --size is 4097, but must be 1 to 4096\n$/],
    [['lat', 'send', '-i', '9', ...device], 1, /port/],
    [['bw', 'send', '--device', 'usb:1'], 1, /no backend "usb"/],
  ])('%j fails in one line', async (words, exitCode, error) => {
    const run = await runHca(words);
    expect(run.error).toMatch(error);
    expect(run.exitCode).toBe(exitCode);
    expect(run.error.trimEnd()).not.toContain('\n');
  });

  it.each(operations)('find one wrong bit of %s', async (operation) => {
    const options = {
      operation,
      atomicType: 'FETCH_AND_ADD',
      type: 'RC',
      queuePairs: 2,
      bytes: 100,
      inlineBytes: 0,
      txDepth: 4,
      rxDepth: 4,
      readAtomics: 4,
      mtu: 1024,
      port: 1,
      gidIndex: 0,
      serviceLevel: 0,
      timeout: 14,
    } as const;
    const { signal } = new AbortController();
    await Scope.run(signal, async (scope) => {
      const { client } = await connectEnds(board('shared'), { ends: options }, {}, scope);
      const end = client!;
      const run: Run = { operation, atomicType: 'FETCH_AND_ADD', bytes: operation === 'atomic' ? 8 : 100 };
      fillMemory(end, run);
      const [from, to] =
        operation === 'read' ? (['exposed', 'local'] as const) : (['local', 'exposed'] as const);
      const check = (): void => {
        if (operation === 'atomic') checkAtomics(end, run, [0, 0]);
        else checkData(end, run);
      };
      if (operation !== 'atomic') {
        // no message has arrived yet
        expect(check).toThrow(/^invalid data: byte 0 of 100 of queue pair 0 is \d+, not \d+$/);
        for (const index of [0, 1]) end.area(to, index).set(end.area(from, index));
      }
      check();
      end.area(to, 1)[run.bytes - 1]! ^= 1;
      expect(check).toThrow(/^invalid data: .*queue pair 1 /);
    });
  });
});

describe('a stopwatch', () => {
  it('takes the requested number of samples after a first lap', () => {
    const stopwatch = new Stopwatch({ iterations: 3 });
    for (let lap = 0; lap < 3; lap++) stopwatch.lap();
    expect(stopwatch.stopped).toBe(false);
    stopwatch.lap();
    expect(stopwatch).toMatchObject({ stopped: true, laps: 3 });
    expect(stopwatch.samples.reduce((sum, sample) => sum + sample, 0)).toBeCloseTo(
      stopwatch.elapsed * 1e6,
      0,
    );
    expect(new Stopwatch({ iterations: 0 }).stopped).toBe(true);
  });

  it('reports the spread of samples', () => {
    expect(spreadOf(Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9))).toBe(2);
  });
});

describe('driven sides', () => {
  it.each([
    [0, 30],
    [2 ** 30, 137],
  ])('are given up if nothing arrives and %i B may be in flight', async (bytesBetween, seconds) => {
    let now = 0;
    const told: number[] = [];
    const driven = drive([{ done: false, advance: () => true }], {
      messages: () => 7,
      bytesBetween,
      signal: new AbortController().signal,
      progress: (messages) => told.push(messages),
      clock: () => (now += 1000),
    });
    await expect(driven).rejects.toThrow(`nothing arrived for ${seconds} s after 7 messages`);
    expect(told.length).toBeGreaterThanOrEqual(seconds);
    expect(told.length).toBeLessThan(seconds + 3);
  });
});

describe('a polling loop', () => {
  it('sleeps between polls after some hundred empty ones, until one succeeds', async () => {
    const idle = new Idle();
    const turns = (count: number): boolean[] => Array.from({ length: count }, () => idle.turn(false));
    expect(turns(511)).not.toContain(true);
    expect(turns(3)).toEqual([true, true, true]);
    expect(idle.turn(true)).toBe(false);
    expect(turns(511)).not.toContain(true);
    expect(turns(1)).toEqual([true]);
    await expect(idle.sleep(AbortSignal.abort(new Error('it has ended')))).rejects.toThrow('it has ended');
  });
});

describe('progress', () => {
  it('is printed after a second, and erased on a terminal', () => {
    const clock = { now: 0 };
    const told: string[] = [];
    const telling = (isTerminal: boolean): Progress =>
      new Progress(
        (text) => told.push(text),
        isTerminal,
        () => clock.now,
      );
    const line = telling(false);
    line.tell(() => 'early');
    clock.now = 1000;
    line.tell(() => 'one');
    line.tell(() => 'early');
    line.clear();
    const terminal = telling(true);
    clock.now = 2000;
    terminal.tell(() => 'three');
    clock.now = 3000;
    terminal.tell(() => 'x');
    terminal.clear();
    expect(told).toEqual(['one\n', '\rthree', '\rx    ', '\r     \r']);
  });
});
