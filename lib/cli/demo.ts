import { EmulatedFabric } from '../board/index.ts';
import { Connection } from '../connect/index.ts';
import { openDevice, type Context } from '../index.ts';
import { checksOf } from './demo_checks.ts';
import { rateOf } from './message_rate.ts';
import type { Output } from './output/output.ts';
import { table } from './output/table.ts';
import { exchange } from './pingpong.ts';

/** What was measured of messages of a size. */
interface Figures {
  readonly size: number;
  /** Of a SEND, half a round trip. */
  readonly microseconds: number;
  /** RDMA WRITEs a second, many under way. */
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
}

const sizes = [8, 64, 1024, 4096, 65_536, 1 << 20] as const;
const mtu = 4096;

/**
 * `hca demo`: connects two emulated boards of this process, checks every operation byte for byte, and measures. JSON: {checks:
 * [{name, bytes}], figures: [{size, microseconds, messagesPerSecond, bytesPerSecond}]}.
 * @throws Error an operation did something else than it should
 */
export async function demo(output: Output, signal: AbortSignal): Promise<void> {
  const fabric = new EmulatedFabric();
  try {
    const contexts = [0, 1].map(() => openDevice(fabric.makeBoard().open(0))) as [Context, Context];
    output.text('Two boards in this process, their ports connected.\n');
    const checks = await checkAll(output, contexts, signal);
    await measure(contexts, sizes[0], signal); // what runs for the first time is slow
    const figures: Figures[] = [];
    for (const size of sizes) {
      signal.throwIfAborted();
      output.text(`measuring messages of ${size} B\n`);
      figures.push(await measure(contexts, size, signal));
    }
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
): Promise<Figures> {
  const { result } = await exchange(contexts, {
    size,
    mtu,
    rxDepth: 64,
    iters: Math.max(20, Math.min(4000, Math.floor(2 ** 25 / size))),
    port: 1,
    serviceLevel: 0,
    gidIndex: 0,
    events: false,
    check: true,
    signal,
  });
  const messagesPerSecond = rateOf(contexts, size, mtu);
  return {
    size,
    microseconds: result.microsecondsPerIteration / 2,
    messagesPerSecond,
    bytesPerSecond: messagesPerSecond * size,
  };
}

function figuresText(figures: readonly Figures[]): string {
  return table(
    [
      { title: 'MESSAGE' },
      { title: 'SEND, HALF ROUND TRIP', align: 'right' },
      { title: 'WRITES A SECOND', align: 'right' },
      { title: 'BANDWIDTH', align: 'right' },
    ],
    figures.map(({ size, microseconds, messagesPerSecond, bytesPerSecond }) => [
      size >= 2 ** 20 ? `${size / 2 ** 20} MiB` : size >= 1024 ? `${size / 1024} KiB` : `${size} B`,
      `${microseconds.toFixed(1)} us`,
      Math.round(messagesPerSecond).toLocaleString('en'),
      `${(bytesPerSecond / 1e6).toFixed(0)} MB/s`,
    ]),
  );
}
