// The page of a program's own board: its messages, and its requests, through a socket as the page opens it.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { Completion, Opcode, openDevice } from '../../lib/index.ts';
import { watchBoard, type BoardPage, type WatchBoardOptions } from '../../lib/watch/index.ts';
import type { PageMessage, PageRequest } from '../../lib/watch/frames.ts';
import { closing } from '../helpers/backends.ts';
import { makePair, type End } from '../helpers/connected.ts';
import { until } from '../helpers/hca_process.ts';

type Kind = PageMessage['kind'];
type Message<Named extends Kind> = Extract<PageMessage, { kind: Named }>;

/** A page, open until the test ends. */
class Looking {
  private readonly socket: WebSocket;
  private readonly messages: PageMessage[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as PageMessage));
  }

  static async at(page: BoardPage): Promise<Looking> {
    const { href, origin } = new URL(page.address);
    const socket = new WebSocket(`${href.replace('http', 'ws')}live`, { origin });
    onTestFinished(() => socket.terminate());
    const looking = new Looking(socket);
    await once(socket, 'open');
    return looking;
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  ask(request: PageRequest): void {
    this.socket.send(JSON.stringify(request));
  }

  all<Named extends Kind>(kind: Named): Message<Named>[] {
    return this.messages.filter((message): message is Message<Named> => message.kind === kind);
  }

  /** The newest message of a kind that meets a condition. */
  async receives<Named extends Kind>(
    kind: Named,
    isIt: (message: Message<Named>) => boolean = () => true,
  ): Promise<Message<Named>> {
    await until(() => this.all(kind).some(isIt), kind);
    return this.all(kind).findLast(isIt)!;
  }
}

/** The number of rings that boards of this process write for observers. */
const rings = (): number =>
  readFileSync('/proc/self/maps', 'utf8').split('memfd:fpga-verbs-watch').length - 1;

/** A stepped board with two connected queue pairs of function 1, and its page, until the test ends. */
async function show(
  options: WatchBoardOptions = {},
): Promise<{ page: BoardPage; board: EmulatedBoard; from: End; to: End }> {
  const board = closing(new EmulatedBoard({ progress: 'stepped', queuePairs: 64, memoryKeys: 256 }));
  const [, context] = [0, 1].map((number) => openDevice(board.open(number)));
  const verbs = {
    board: board as never, // makePair uses only the context
    context: context!,
    protectionDomain: context!.createProtectionDomain(),
    completionQueue: context!.createCompletionQueue({ entries: 64 }),
  };
  const [from, to] = makePair(verbs);
  board.runUntilIdle();
  const page = await watchBoard(board, options);
  onTestFinished(() => page.close());
  return { page, board, from, to };
}

/** Posts a receive and a send of no bytes. */
function post({ from, to }: { from: End; to: End }): void {
  to.queuePair.postReceive({ wrId: 1, scatter: [] });
  from.queuePair.postSend({ opcode: Opcode.send, wrId: 2, signaled: true });
}

describe("the page of a program's own stepped board", () => {
  it("shows the commands of the program, and the board's time", async () => {
    const { page, board, from, to } = await show({ name: 'bench' });
    const looking = await Looking.at(page);
    expect(await looking.receives('board')).toMatchObject({ device: 'bench', stepped: true });
    await looking.receives('state');
    for (let times = 0; times < 3; times++) post({ from, to });
    board.runUntilIdle();
    board.advanceTime(5_000_000);
    const { ways } = await looking.receives('ways', ({ kicks }) => kicks > 0);
    expect(ways).toHaveLength(3);
    expect(
      ways.every(([owner, , , , , queuePair]) => owner === 1 && queuePair === from.queuePair.number),
    ).toBe(true);
    const { clockFrequency } = from.verbs.context.queryDevice().identity;
    const time = Number(board.now()) / (clockFrequency / 1e9);
    await looking.receives('state', ({ virtualTime }) => virtualTime === time);
    const { queuePairs } = await looking.receives('queuePairs');
    expect(queuePairs.map(({ number }) => number)).toContain(to.queuePair.number);
  });

  it('does not step the board until the page requests it', async () => {
    const { page, board, from, to } = await show();
    const looking = await Looking.at(page);
    post({ from, to });
    const { steps: before } = board.counters();
    await looking.receives('state');
    await looking.receives('ways');
    expect(board.counters().steps).toBe(before);
    looking.ask({ kind: 'step', steps: 3 });
    await until(() => board.counters().steps > before, 'steps');
    expect(board.counters().steps).toBeLessThanOrEqual(before + 3);
    looking.ask({ kind: 'pace', stepsPerSecond: 10_000 });
    await looking.receives('state', ({ pace }) => pace === 10_000);
    let completions = 0;
    const taken = Array.from({ length: 4 }, () => new Completion());
    await until(() => {
      completions += from.verbs.completionQueue.poll(taken);
      return completions === 2; // one of the receive, one of the send
    }, 'the completions');
  });

  it("steps through the program's function, and reports its error", async () => {
    let steps = 0;
    const { page } = await show({
      step: () => {
        if (++steps === 50) throw new Error('fifty');
      },
    });
    const ended = page.ended.catch((error: unknown) => error);
    const looking = await Looking.at(page);
    looking.ask({ kind: 'step', steps: 3 });
    await until(() => steps > 0, 'steps');
    expect(steps).toBe(3);
    looking.ask({ kind: 'pace', stepsPerSecond: 1000 });
    expect(await looking.receives('end')).toEqual({ kind: 'end', reason: 'fifty' });
    expect(await ended).toMatchObject({ message: 'fifty' });
    expect(steps).toBe(50);
  });

  it('closes all its sockets, and leaves the board usable', async () => {
    const { page, board } = await show();
    const looking = await Looking.at(page);
    await looking.receives('ways');
    expect(rings()).toBe(3);
    await page.close();
    await page.close();
    await page.ended;
    await until(() => !looking.isOpen, 'the end of the socket');
    expect(rings()).toBe(0);
    expect(board.step()).toBe(0);
    await expect(fetch(page.address)).rejects.toThrow('fetch failed');
  });

  it('refuses options out of range, and a port in use', async () => {
    const { board, page } = await show();
    for (const [options, message] of [
      [{ port: 70_000 }, 'port must be 0 to 65535, got 70000'],
      [{ stepsPerSecond: -1 }, 'stepsPerSecond must be 0 to 100000, got -1'],
      [{ underlyingFunction: 8 }, /function/],
    ] as const)
      await expect(watchBoard(board, options)).rejects.toThrow(message);
    await expect(watchBoard(board, { port: Number(new URL(page.address).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('shows only the given function', async () => {
    const { page } = await show({ underlyingFunction: 1 });
    const looking = await Looking.at(page);
    expect((await looking.receives('board')).functions).toEqual([1]);
  });
});
