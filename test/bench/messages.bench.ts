import { availableParallelism } from 'node:os';

import { EmulatedFabric, type BoardOptions } from '../../lib/board/index.ts';
import { rateOf } from '../../lib/cli/message_rate.ts';
import { table } from '../../lib/cli/output/table.ts';
import { statisticsOf } from '../../lib/cli/output/statistics.ts';
import { openDevice, type Context } from '../../lib/index.ts';
import { dataUnitsOf } from '../helpers/data_units.ts';

// Two boards of a fabric. The ICRC is computed and checked throughout.

const rounds = 9;
const mtu = 4096;
const aims = { messagesPerSecond: 3e6, ofMemcpy: 0.2 };
const mebibyte = 1 << 20;

const median = (samples: readonly number[]): number => statisticsOf(Float64Array.from(samples)).median;

async function inTurns(progress: NonNullable<BoardOptions['progress']>): Promise<string[][]> {
  const fabric = new EmulatedFabric();
  const options: BoardOptions = { progress };
  const contexts = [0, 1].map(() => openDevice(fabric.makeBoard(options).open(0))) as [Context, Context];
  const [source, target] = [new Uint8Array(mebibyte), new Uint8Array(mebibyte)];
  const samples = { rate: [] as number[], ratio: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    samples.rate.push(rateOf(contexts, 64, mtu));
    const bytesPerSecond = rateOf(contexts, mebibyte, mtu) * mebibyte;
    const begin = performance.now();
    for (let copy = 0; copy < 64; copy++) target.set(source);
    const copied = (64 * mebibyte * 1000) / (performance.now() - begin);
    samples.ratio.push(bytesPerSecond / copied);
  }
  tellBlocks(progress, contexts);
  fabric.close();
  const [rate, ratio] = [median(samples.rate), median(samples.ratio)];
  const row = (name: string, value: string, byAim: number): string[] => [
    progress,
    name,
    value,
    byAim.toFixed(2),
  ];
  return [
    row('64 B WRITEs a second', Math.round(rate).toLocaleString('en'), rate / aims.messagesPerSecond),
    row('1 MiB WRITE by memcpy', ratio.toFixed(3), ratio / aims.ofMemcpy),
  ];
}

/**
 * Prints the number of data units that left each block of both boards. Fails if a block was bypassed, because
 * then no unit left it.
 */
function tellBlocks(progress: string, contexts: readonly Context[]): void {
  const boards = contexts.map(({ driver }) => dataUnitsOf(driver.device));
  const counts = [...boards[0]!.keys()].map((block) => ({
    block,
    count: boards.reduce((sum, board) => sum + board.get(block)!, 0),
  }));
  const told = counts.map(({ block, count }) => `${block} ${count.toLocaleString('en')}`);
  console.log(`\nData units that left the blocks of both boards (${progress} progress): ${told.join(', ')}`);
  // The scheduler works only for commands that find no PCB.
  const bypassed = counts.filter(({ block, count }) => count === 0 && block !== 'send_queue_scheduler');
  if (bypassed.length === 0) return;
  console.error(`bypassed: ${bypassed.map(({ block }) => block).join(', ')}`);
  process.exitCode = 1;
}

// Two device threads and the one that polls.
const hasCpus = availableParallelism() >= 3;
const rows = [...(await inTurns('shared')), ...(hasCpus ? await inTurns('own') : [])];
const { messagesPerSecond, ofMemcpy } = aims;
console.log(
  `\nMessages between two boards of one process, medians of ${rounds} rounds (aims on one thread: ` +
    `${messagesPerSecond / 1e6} million a second; ${ofMemcpy} of memcpy)\n${table(
      ['progress', 'what', 'median', 'by the aim'].map((title, index) => ({
        title,
        align: index < 2 ? 'left' : 'right',
      })),
      rows,
    )}`,
);
if (!hasCpus) console.log('Not measured: device threads of their own; that takes 3 CPUs.');
