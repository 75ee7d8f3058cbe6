import { EmulatedBoard, type BoardOptions } from '../../lib/board/index.ts';
import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { statisticsOf } from '../../lib/cli/output/statistics.ts';
import { table } from '../../lib/cli/output/table.ts';
import { addressOf, connectQueuePair } from '../../lib/connect/index.ts';
import {
  Access,
  Completion,
  CompletionError,
  CompletionStatus,
  Opcode,
  openDevice,
  type CompletionQueue,
  type Context,
  type QueuePair,
  type SendRequest,
} from '../../lib/index.ts';

// CPU time of a 64 B WRITE by one of many queue pairs, each connected to itself, and by functions that are
// busy at the same time. The boards are stepped, on one thread, and take turns in each round.

const rounds = 9;
const messages = 2048; // a round
const atOnce = 16;
const bytes = 64;
const aims = { idle: 1.1, missed: 1.5 };
const fitting = 128;
const most = 10_000;

const completions = Array.from({ length: atOnce }, () => new Completion());

/** Queue pairs of a function of a board. */
class Party {
  private readonly board: EmulatedBoard;
  private readonly context: Context;
  private readonly completionQueue: CompletionQueue;
  private readonly queuePairs: readonly QueuePair[];
  private readonly request: SendRequest;
  private next = 0;

  constructor(board: EmulatedBoard, underlyingFunction: number, queuePairs: number) {
    this.board = board;
    const context = openDevice(board.open(underlyingFunction));
    this.context = context;
    const protectionDomain = context.createProtectionDomain();
    this.completionQueue = context.createCompletionQueue({ entries: 4 * atOnce });
    const memory = protectionDomain.allocate(bytes, Access.localWrite | Access.remoteWrite);
    this.request = {
      opcode: Opcode.rdmaWrite,
      inlineData: new Uint8Array(bytes),
      remote: memory.remote(),
      signaled: true,
    };
    this.queuePairs = Array.from({ length: queuePairs }, () => {
      const queuePair = protectionDomain.createQueuePair({
        type: 'RC',
        sendCompletionQueue: this.completionQueue,
        receiveCompletionQueue: this.completionQueue,
        capabilities: { maxSendWorkRequests: atOnce, maxReceiveWorkRequests: 1, maxInlineData: bytes },
      });
      const address = addressOf(context, queuePair);
      connectQueuePair(queuePair, address, address);
      return queuePair;
    });
  }

  /** Contexts that the board has fetched into its cache; function 0 reads the counter. */
  get misses(): number {
    const register = registerNamed(blockNamed('control'), 'queue_pair_cache_misses');
    return Number(readNamed(this.context.driver.device.controlPage!, register).values[0]);
  }

  /** Posts a batch, one by one, to the next `among` queue pairs in turn, and waits for it. */
  send(among: number): void {
    for (let posted = 0; posted < atOnce; posted++) {
      this.next = (this.next + 1) % among;
      this.queuePairs[this.next]!.postSend(this.request);
    }
    this.board.runUntilIdle();
    const count = this.completionQueue.poll(completions);
    if (count !== atOnce) throw new Error(`${count} of ${atOnce} messages are done`);
    for (const completion of completions)
      if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
  }
}

/** A subject of the measurement: `send` posts a batch. */
interface Contender {
  readonly name: string;
  send(): void;
  readonly samples: number[];
}

function makeBoard(options: BoardOptions = {}): EmulatedBoard {
  return new EmulatedBoard({ progress: 'stepped', ...options });
}

/** CPU time of a message, microseconds. */
function cost(send: () => void): number {
  const begin = process.cpuUsage();
  for (let sent = 0; sent < messages; sent += atOnce) send();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / messages;
}

function contender(name: string, send: () => void): Contender {
  return { name, send, samples: [] };
}

const idle = [1, 100, most].map((count) => {
  const party = new Party(makeBoard(), 0, count);
  return { count, party };
});
const crowd = idle.at(-1)!.party;
const functions = makeBoard();
const busy = Array.from({ length: 8 }, (_, number) => new Party(functions, number, 1));
let turn = 0;

const one = contender('1 queue pair', () => idle[0]!.party.send(1));
const contenders = {
  idle: [
    one,
    ...idle
      .slice(1)
      .map(({ count, party }) => contender(`1 of ${count}, the others idle`, () => party.send(1))),
  ],
  missed: [
    contender(`${fitting} of ${most} in turn: all contexts are cached`, () => crowd.send(fitting)),
    contender(`${most} in turn: no context is`, () => crowd.send(most)),
  ],
  functions: [
    contender('1 function', () => busy[0]!.send(1)),
    contender('8 functions, which are all, in turn', () => busy[turn++ % busy.length]!.send(1)),
  ],
};

const all = Object.values(contenders).flat();
for (let round = 0; round < rounds + 2; round++)
  for (const { send, samples } of all) {
    const sample = cost(send);
    if (round >= 2) samples.push(sample); // the first ones warm up
  }

const median = (samples: readonly number[]): number => statisticsOf(Float64Array.from(samples)).median;

/** The cost of each contender relative to the first of its group in the same round. */
function rowsOf(group: readonly Contender[], aim: number | undefined): string[][] {
  const base = group[0]!.samples;
  return group.map((each, index) => [
    each.name,
    median(each.samples).toFixed(2),
    median(each.samples.map((sample, round) => sample / base[round]!)).toFixed(2),
    aim === undefined || index === 0 ? '' : `at most ${aim}`,
  ]);
}

console.log(
  `\nCPU time of a 64 B WRITE to the same queue pair, medians of ${rounds} rounds\n${table(
    ['who writes', 'µs', 'by the first', 'aim'].map((title, index) => ({
      title,
      align: index === 1 || index === 2 ? 'right' : 'left',
    })),
    [
      ...rowsOf(contenders.idle, aims.idle),
      ...rowsOf(contenders.missed, aims.missed),
      ...rowsOf(contenders.functions, undefined),
    ],
  )}`,
);
const before = crowd.misses;
cost(() => crowd.send(most));
console.log(
  `Without cached contexts: ${((crowd.misses - before) / messages).toFixed(2)} are fetched a message.`,
);
