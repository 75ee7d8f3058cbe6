import { parseDeviceString } from '../../board/index.ts';
import type { DeviceFunction } from '../../driver/device_function.ts';
import { KickRingWatch } from '../../driver/kick_ring_watch.ts';
import type { KickWatch } from '../../driver/observer.ts';
import { openDevice, type Context, type Kick } from '../../index.ts';
import {
  CompletionStatus,
  Opcode,
  completionStatusNames,
  kickOriginNames,
  opcodeNames,
} from '../../spec/index.ts';
import type { Output } from '../output/output.ts';
import type { Scope } from '../scope.ts';
import { UnansweredQueuePair } from '../unanswered_queue_pair.ts';
import { Losses, observe, repeat } from './watching.ts';

/** Options of `hca kicks`. */
export interface KicksOptions {
  /** Number of sends that the command posts and shows; undefined: it watches the kicks of others until it is interrupted. */
  readonly count: number | undefined;
}

const payloads = [0, 32, 64, 96, 128, 256];
const timeout = 5000;
const none = { buffer: 0xffff, text: '-' };
const columns: readonly (readonly [title: string, width: number])[] = [
  ['KICK', 6],
  ['UF', 2],
  ['QP', 8],
  ['SEQ', 5],
  ['OPCODE', 9],
  ['LEN', 3],
  ['ORIGIN', 6],
  ['VCB', 3],
  ['PCB', 3],
  ['TVL', 3],
  ['COLLECT', 7],
  ['TO SENT', 7],
  ['STATUS', 0],
];

/** Origins of a command: collected in a PCB, kicked in send queue mode, fetched by the scheduler. */
const origins: Readonly<Record<string, string>> = {
  collected: 'pcb',
  sendQueueMode: 'sqm',
  scheduled: 'sched',
};

/**
 * `hca kicks`: prints a line for each kick of the observed function, or of all functions through the control function. It opens a function on
 * PCIe. With `--count` it opens a function and posts its own sends. JSON: a {@link Kick} per line, or {lost}: the number of lost records; times
 * are device clock ticks.
 */
export async function kicks(
  output: Output,
  deviceString: string,
  { count }: KicksOptions,
  scope: Scope,
): Promise<void> {
  if (count === undefined) await watch(output, deviceString, scope);
  else await post(output, scope.use(openDevice(deviceString)), count, scope.signal);
}

async function watch(output: Output, deviceString: string, scope: Scope): Promise<void> {
  const { backend } = parseDeviceString(deviceString);
  if (backend === 'pci' || backend === 'vfio') {
    const { device } = scope.use(openDevice(deviceString)).driver;
    const kicksSeen = new KickRingWatch(device);
    await showKicks(
      output,
      deviceString,
      device,
      scope.hold(kicksSeen, () => kicksSeen.close()),
      scope.signal,
    );
    return;
  }
  const observer = observe(
    scope,
    deviceString,
    'kicks',
    '--device serve:NAME, as hca list shows it; or --count N, which posts N sends here and shows them',
  );
  await showKicks(output, deviceString, observer.device, observer.watchKicks(), scope.signal);
}

/** Shows the kicks that a watch on a function takes, until the command is interrupted. */
export async function showKicks(
  output: Output,
  deviceString: string,
  { controlPage, underlyingFunction, identity }: DeviceFunction,
  kicksSeen: Pick<KickWatch, 'take' | 'lost'>,
  signal: AbortSignal,
): Promise<void> {
  const losses = new Losses();
  const whose = controlPage === undefined ? `function ${underlyingFunction}` : 'all functions';
  output.text(`${deviceString}: kicks of ${whose}; Ctrl+C ends it\n\n`);
  output.table(line(columns.map(([title]) => title)));
  await repeat(signal, () => {
    let text = '';
    for (const kick of takeKicks(kicksSeen)) {
      output.value(kick);
      text += line(cellsOf(kick, identity.clockFrequency / 1e9));
    }
    const lost = losses.since(kicksSeen.lost);
    if (lost > 0) {
      output.value({ lost });
      text += `${lost} records lost: they arrive faster than this command reads them\n`;
    }
    if (text !== '') output.text(text);
  });
}

const mostTakes = 2000;

/**
 * The kicks since the last call. After a loss the watch continues with the newest record, which on a fast board would return almost nothing.
 * The function then collects records for some milliseconds, so that the output shows successive kicks.
 */
function takeKicks(kicksSeen: Pick<KickWatch, 'take' | 'lost'>): Kick[] {
  const lostBefore = kicksSeen.lost;
  const taken = kicksSeen.take();
  for (let takes = 1; kicksSeen.lost !== lostBefore && takes < mostTakes; takes++)
    taken.push(...kicksSeen.take());
  return taken;
}

async function post(output: Output, device: Context, count: number, signal: AbortSignal): Promise<void> {
  const { board, identity } = device.queryDevice();
  const source = new UnansweredQueuePair(device.driver, { entries: 16, gatherEntries: 0, inlineBytes: 256 });
  output.text(`${board.backend}: sends of ${payloads.join(', ')} B that this command posts\n\n`);
  output.table(line(columns.map(([title]) => title)));
  const observed = device.kicks({ signal, timeout });
  for (let shown = 0; shown < count; shown++) {
    const next = observed.next(); // observes from here on
    const sequenceNumber = source.queuePair.post({
      opcode: Opcode.send,
      inlineData: new Uint8Array(payloads[shown % payloads.length]!),
    });
    const { value, done } = await next;
    if (done === true) break;
    source.queuePair.sendQueue.completedThrough(sequenceNumber);
    output.value(value);
    output.text(line(cellsOf(value, identity.clockFrequency / 1e9)));
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
  const { sent } = kick;
  const since = (begin: number, end: number): string =>
    begin === 0 ? none.text : duration((end - begin) / ticksPerNanosecond);
  const buffer = (value: number): string => (value === none.buffer ? none.text : `${value}`);
  const origin = kickOriginNames[kick.origin];
  return [
    `${kick.kickNumber}`,
    `${kick.underlyingFunction}`,
    `0x${kick.queuePairNumber.toString(16)}`,
    `${kick.sendQueueSequenceNumber}`,
    opcodeNames[kick.opcode] ?? `${kick.opcode}`,
    `${kick.length}`,
    origins[origin ?? ''] ?? `${kick.origin}`,
    buffer(kick.virtualCollectBuffer),
    buffer(kick.physicalCollectBuffer),
    sent === undefined ? none.text : `${sent.transmitVirtualLane}`,
    since(kick.firstWrite, kick.kicked),
    sent === undefined ? none.text : duration((sent.end - kick.kicked) / ticksPerNanosecond),
    sent === undefined ? 'back' : statusOf(sent.status),
  ];
}

const statusOf = (status: CompletionStatus): string =>
  status === CompletionStatus.success ? 'sent' : (completionStatusNames[status] ?? `${status}`);

/** A text of at most eight characters. */
function duration(nanoseconds: number): string {
  const digits = (value: number): string => (value < 100 ? value.toFixed(1) : value.toFixed(0));
  if (nanoseconds < 1e5) return `${Math.round(nanoseconds)} ns`;
  if (nanoseconds < 1e8) return `${digits(nanoseconds / 1e3)} us`;
  return nanoseconds < 1e11 ? `${digits(nanoseconds / 1e6)} ms` : `${digits(nanoseconds / 1e9)} s`;
}
