import { availableParallelism } from 'node:os';

import { EmulatedFabric, type BoardOptions } from '../../lib/board/index.ts';
import { rateOf } from '../../lib/cli/message_rate.ts';
import { table } from '../../lib/cli/output/table.ts';
import { statisticsOf } from '../../lib/cli/output/statistics.ts';
import { exchange } from '../../lib/cli/pingpong.ts';
import { openDevice, type Context } from '../../lib/index.ts';

// Two boards of a fabric. ICRC is made and checked throughout.

const rounds = 9;
const mtu = 4096;
const aims = { halfRoundTrip: 0.6, messagesPerSecond: 3e6, ofMemcpy: 0.2 };
const mebibyte = 1 << 20;

const median = (samples: readonly number[]): number => statisticsOf(Float64Array.from(samples)).median;

async function inTurns(progress: NonNullable<BoardOptions['progress']>): Promise<string[][]> {
  const fabric = new EmulatedFabric();
  const options: BoardOptions = { progress };
  const contexts = [0, 1].map(() => openDevice(fabric.makeBoard(options).open(0))) as [Context, Context];
  const [source, target] = [new Uint8Array(mebibyte), new Uint8Array(mebibyte)];
  const samples = { latency: [] as number[], rate: [] as number[], ratio: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const { result } = await exchange(contexts, {
      size: 64,
      mtu,
      rxDepth: 64,
      iters: 5000,
      port: 1,
      serviceLevel: 0,
      gidIndex: 0,
      events: false,
      check: false,
      signal: new AbortController().signal,
    });
    samples.latency.push(result.microsecondsPerIteration / 2);
    samples.rate.push(rateOf(contexts, 64, mtu));
    const bytesPerSecond = rateOf(contexts, mebibyte, mtu) * mebibyte;
    const begin = performance.now();
    for (let copy = 0; copy < 64; copy++) target.set(source);
    const copied = (64 * mebibyte * 1000) / (performance.now() - begin);
    samples.ratio.push(bytesPerSecond / copied);
  }
  fabric.close();
  const [latency, rate, ratio] = [median(samples.latency), median(samples.rate), median(samples.ratio)];
  const row = (name: string, value: string, byAim: number): string[] => [
    progress,
    name,
    value,
    byAim.toFixed(2),
  ];
  return [
    row('64 B SEND, half round trip', `${latency.toFixed(2)} us`, latency / aims.halfRoundTrip),
    row('64 B WRITEs a second', Math.round(rate).toLocaleString('en'), rate / aims.messagesPerSecond),
    row('1 MiB WRITE by memcpy', ratio.toFixed(3), ratio / aims.ofMemcpy),
  ];
}

// Two device threads and the one that polls.
const hasCpus = availableParallelism() >= 3;
const rows = [...(await inTurns('shared')), ...(hasCpus ? await inTurns('own') : [])];
const { halfRoundTrip, messagesPerSecond, ofMemcpy } = aims;
console.log(
  `\nMessages between two boards of one process, medians of ${rounds} rounds (aims on one thread: ${halfRoundTrip} us; ` +
    `${messagesPerSecond / 1e6} million a second; ${ofMemcpy} of memcpy)\n${table(
      ['progress', 'what', 'median', 'by the aim'].map((title, index) => ({
        title,
        align: index < 2 ? 'left' : 'right',
      })),
      rows,
    )}`,
);
if (!hasCpus) console.log('Not measured: device threads of their own; that takes 3 CPUs.');
