import { EmulatedFabric } from '../board/index.ts';
import { Connection } from '../connect/index.ts';
import { openDevice, type Context } from '../index.ts';
import { checksOf } from './demo_checks.ts';
import { measure as measureDoorbell } from './doorbell_measurement.ts';
import { largestInline, rateOf } from './message_rate.ts';
import type { Output } from './output/output.ts';
import { table } from './output/table.ts';
import { exchange } from './pingpong.ts';

/** Measurements of one message size. */
interface Figures {
  readonly size: number;
  /** Half a round trip of a SEND, median. */
  readonly microseconds: number;
  /** RDMA WRITEs per second, with many outstanding. */
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
  /** From the last store of the command to its kick record, median. */
  readonly doorbellNanoseconds: number;
}

const sizes = [8, 64, 1024, 4096, 65_536, 1 << 20] as const;
const mtu = 4096;
const gatherEntryBytes = 16;
const doorbells = 2000;

/**
 * `hca demo`: connects two emulated boards of this process, checks every operation byte for byte, and measures. JSON: {checks:
 * [{name, bytes}], figures: [{size, microseconds, messagesPerSecond, bytesPerSecond, doorbellNanoseconds}]}.
 * @param capture file for the packets of the checks, as seen at the first board's port
 * @throws Error an operation had a wrong result
 */
export async function demo(output: Output, capture: string | undefined, signal: AbortSignal): Promise<void> {
  const fabric = new EmulatedFabric();
  try {
    const boards = [fabric.makeBoard(), fabric.makeBoard()];
    if (capture !== undefined) boards[0]!.startCapture(capture);
    const contexts = boards.map((board) => openDevice(board.open(0))) as [Context, Context];
    output.text('Two boards in this process, their ports connected.\n');
    const checks = await checkAll(output, contexts, signal);
    if (capture !== undefined) boards[0]!.stopCapture();
    await measure(contexts, sizes[0], signal); // warms up
    const measured: Omit<Figures, 'doorbellNanoseconds'>[] = [];
    for (const size of sizes) {
      signal.throwIfAborted();
      output.text(`measuring messages of ${sizeText(size)}\n`);
      measured.push(await measure(contexts, size, signal));
    }
    output.text('measuring doorbells\n');
    const doorbellOf = await doorbellsOf(contexts[0], sizes.map(payloadOf), signal);
    const figures = measured.map((each) => ({
      ...each,
      doorbellNanoseconds: doorbellOf.get(payloadOf(each.size))!,
    }));
    output.text(`\n${figuresText(figures)}`);
    output.value({ checks, figures });
  } finally {
    fabric.close();
  }
}

async function checkAll(
  output: Output,
  contexts: readonly [Context, Context],
  signal: AbortSignal,
): Promise<{ name: string; bytes: number }[]> {
  const [a, b] = contexts.map((context) => new Connection(context)) as [Connection, Connection];
  try {
    a.connect(b.address);
    b.connect(a.address);
    const [from, to] = [a.address.queuePairNumber, b.address.queuePairNumber];
    output.text(`A reliable connection: queue pair ${from} to queue pair ${to}.\n\n`);
    const done: { name: string; bytes: number }[] = [];
    for (const { name, run } of checksOf(a, b)) {
      signal.throwIfAborted();
      const bytes = await run().catch((error: unknown) => {
        throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      });
      done.push({ name, bytes });
      output.text(`  ${`${name} `.padEnd(32, '.')} ${String(bytes).padStart(8)} B compared, all right\n`);
    }
    output.text('\n');
    return done;
  } finally {
    a.close();
    b.close();
  }
}

async function measure(
  contexts: readonly [Context, Context],
  size: number,
  signal: AbortSignal,
): Promise<Omit<Figures, 'doorbellNanoseconds'>> {
  const { result } = await exchange(contexts, {
    type: 'RC',
    size,
    mtu,
    rxDepth: 64,
    iters: Math.max(20, Math.min(4000, Math.floor(2 ** 25 / size))),
    port: 1,
    serviceLevel: 0,
    gidIndex: 0,
    events: false,
    check: true,
    timeout: 30,
    signal,
  });
  const messagesPerSecond = rateOf(contexts, size, mtu);
  return {
    size,
    microseconds: result.medianMicroseconds / 2,
    messagesPerSecond,
    bytesPerSecond: messagesPerSecond * size,
  };
}

/** Bytes of a command's payload: the message inline, or its gather entry. */
function payloadOf(size: number): number {
  return size <= largestInline ? size : gatherEntryBytes;
}

/** Doorbell latencies by bytes of payload, nanoseconds. */
async function doorbellsOf(
  device: Context,
  payloads: readonly number[],
  signal: AbortSignal,
): Promise<Map<number, number>> {
  const latencies = new Map<number, number>();
  for (const payload of new Set(payloads)) {
    const { measurement } = await measureDoorbell(device, payload, {
      iterations: doorbells,
      warmup: doorbells / 2,
      cpu: undefined,
      deviceCpu: undefined,
      signal,
    });
    latencies.set(payload, measurement.parts.lastStoreToRecord.median);
  }
  return latencies;
}

function sizeText(size: number): string {
  if (size >= 2 ** 20) return `${size / 2 ** 20} MiB`;
  return size >= 1024 ? `${size / 1024} KiB` : `${size} B`;
}

function figuresText(figures: readonly Figures[]): string {
  const titles = ['MESSAGE', 'SEND, HALF ROUND TRIP', 'WRITES A SECOND', 'BANDWIDTH', 'DOORBELL'];
  const text = table(
    titles.map((title, index) => ({ title, align: index === 0 ? 'left' : 'right' })),
    figures.map(({ size, microseconds, messagesPerSecond, bytesPerSecond, doorbellNanoseconds }) => [
      sizeText(size),
      `${microseconds.toFixed(1)} us`,
      Math.round(messagesPerSecond).toLocaleString('en'),
      `${(bytesPerSecond / 1e6).toFixed(0)} MB/s`,
      `${doorbellNanoseconds.toFixed(0)} ns`,
    ]),
  );
  return (
    `${text}SEND and DOORBELL are medians; DOORBELL is from the last store of a command to its kick record.\n` +
    'The devices work on the calling thread; hca doorbell measures one with a thread of its own, too.\n'
  );
}
