import { setTimeout } from 'node:timers/promises';

import { openDevice, type Context, type Kick } from '../index.ts';
import { Opcode, completionStatusNames, kickOriginNames, opcodeNames } from '../spec/index.ts';
import { UnansweredQueuePair } from './unanswered_queue_pair.ts';
import type { Output } from './output/output.ts';

/** Options of `hca kicks`. */
export interface KicksOptions {
  /** Kicks to show. */
  readonly count: number;
  /** Shows kicks until it is interrupted. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

const payloads = [0, 32, 64, 96, 128, 256];
const timeout = 5000;
/** Milliseconds between commands that are posted for a follower. */
const pace = 250;
const columns: readonly (readonly [title: string, width: number])[] = [
  ['KICK', 6],
  ['UF', 3],
  ['QP', 8],
  ['SEQ', 6],
  ['OPCODE', 11],
  ['BYTES', 6],
  ['ORIGIN', 16],
  ['VCB', 5],
  ['PCB', 5],
  ['TVL', 4],
  ['COLLECT', 8],
  ['TO SENT', 8],
  ['STATUS', 0],
];

/**
 * `hca kicks`: a line for each kick of the function. An emulated board of this process has no other process that posts to it, so the
 * command posts sends itself. JSON: a {@link Kick} a line; times are device clock ticks.
 */
export async function kicks(output: Output, deviceString: string, options: KicksOptions): Promise<void> {
  const device = openDevice(deviceString);
  try {
    await show(output, device, options);
  } catch (error) {
    if (!options.follow || !options.signal.aborted) throw error; // to be interrupted is how following ends
  } finally {
    device.close();
  }
}

async function show(output: Output, device: Context, { count, follow, signal }: KicksOptions): Promise<void> {
  const { board, identity } = device.queryDevice();
  const source = new UnansweredQueuePair(device.driver, { entries: 16, gatherEntries: 0, inlineBytes: 256 });
  const ticksPerNanosecond = identity.clockFrequency / 1e9;
  output.text(
    `${board.backend}: no other process posts to this board; sends of ${payloads.join(', ')} B are posted here\n\n`,
  );
  output.text(line(columns.map(([title]) => title)));
  const observed = device.kicks({ signal, timeout: timeout });
  const last = follow ? Infinity : count;
  for (let shown = 0; shown < last; shown++) {
    if (follow && shown > 0) await setTimeout(pace, undefined, { signal });
    const next = observed.next(); // observes from here on
    const sequenceNumber = source.queuePair.post({
      opcode: Opcode.send,
      inlineData: new Uint8Array(payloads[shown % payloads.length]!),
    });
    const { value, done } = await next;
    if (done === true) break;
    source.queuePair.sendQueue.completedThrough(sequenceNumber);
    output.value(value);
    output.text(line(cellsOf(value, ticksPerNanosecond)));
  }
  await observed.return();
  source.close();
}

function line(cells: readonly string[]): string {
  return `${columns
    .map(([, width], index) => cells[index]!.padEnd(width))
    .join(' ')
    .trimEnd()}\n`;
}

function cellsOf(kick: Kick, ticksPerNanosecond: number): string[] {
  const nanoseconds = (begin: number, end: number): string =>
    `${Math.round((end - begin) / ticksPerNanosecond)} ns`;
  const optional = (value: number, none: number): string => (value === none ? '-' : `${value}`);
  return [
    `${kick.kickNumber}`,
    `${kick.underlyingFunction}`,
    `0x${kick.queuePairNumber.toString(16)}`,
    `${kick.sendQueueSequenceNumber}`,
    opcodeNames[kick.opcode] ?? `${kick.opcode}`,
    `${kick.length}`,
    kickOriginNames[kick.origin] ?? `${kick.origin}`,
    optional(kick.virtualCollectBuffer, 0xffff),
    optional(kick.physicalCollectBuffer, 0xffff),
    kick.sent === undefined ? '-' : `${kick.sent.transmitVirtualLane}`,
    nanoseconds(kick.firstWrite, kick.kicked),
    kick.sent === undefined ? '-' : nanoseconds(kick.kicked, kick.sent.end),
    kick.sent === undefined
      ? 'handed back'
      : (completionStatusNames[kick.sent.status] ?? `${kick.sent.status}`),
  ];
}
