import { loadAddon, type BoardOptions, type EmulatedBoard } from '../../lib/board/addon.ts';
import type { ServedBoard } from '../../lib/board/serving.ts';
import { Connection } from '../../lib/connect/index.ts';
import { openDevice, type Context } from '../../lib/index.ts';
import { backends, closing, makeBoard, newSocket } from '../helpers/backends.ts';

/** An enabled and served board, as `hca serve` creates it. */
export interface Serving {
  readonly path: string;
  readonly board: EmulatedBoard;
  readonly served: ServedBoard;
  /** Its control function. */
  readonly control: Context;
}

export function serve(options: BoardOptions = {}): Serving {
  const board = makeBoard(backends[0]!, options);
  const control = closing(openDevice(board.open(0)));
  const path = newSocket();
  return { path, board, control, served: closing(board.serve({ path })) };
}

/** Opens a device until the test ends. */
export function open(device: string): Context {
  const context = openDevice(device);
  closing({ close: () => context[Symbol.dispose]() });
  return context;
}

/** Two connected ends. */
export function connectPair(one: Context, other: Context): [Connection, Connection] {
  const pair: [Connection, Connection] = [new Connection(one), new Connection(other)];
  pair[0].connect(pair[1].address);
  pair[1].connect(pair[0].address);
  return pair;
}

/** Sends a message of 3,000 B and compares it. @throws Error a byte is not what was sent */
export async function exchange([from, to]: readonly [Connection, Connection], value: number): Promise<void> {
  const [source, target] = [from.allocate(3000), to.allocate(3000)];
  source.bytes.fill(value);
  const received = to.receive(target.slice());
  await from.send(source.slice());
  await received;
  if (!target.bytes.every((byte) => byte === (value & 0xff))) throw new Error('not what was sent');
  source.close();
  target.close();
}

/** Waits until the clients of a served board have these functions open. */
export async function untilOpen({ path }: Serving, functions: readonly number[]): Promise<void> {
  const isSo = (): boolean => {
    const openNow = loadAddon().lookAtServed([path], 5000)[0]?.open ?? [];
    return openNow.length === functions.length && functions.every((each) => openNow.includes(each));
  };
  const givenUp = performance.now() + 30_000;
  while (!isSo()) {
    if (performance.now() > givenUp) throw new Error('what the test waits for does not happen');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
