import { EmulatedBoard, type BoardOptions } from '../../board/index.ts';
import { addressOf, connectQueuePair } from '../../connect/index.ts';
import {
  Completion,
  Opcode,
  QualityOfServiceLevel,
  openDevice,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type QueuePair,
} from '../../index.ts';
import { StepsDue } from '../../watch/steps_due.ts';
import type { Driven } from '../../watch/watching.ts';
import type { Scope } from '../scope.ts';

const entries = 32;
const completionsAtOnce = 16;
const messageBytes = 2048;
/** Messages in flight in each direction. */
const depth = 2;
const nanosecondsPerSecond = 1e9;
/** The value of {@link Completion.workQueue} for a send. */
const sendQueue = 0;

/** One end of a ping-pong. */
interface End {
  readonly context: Context;
  readonly queuePair: QueuePair;
  readonly completionQueue: CompletionQueue;
  readonly memory: MemoryRegion;
}

/**
 * A board of `hca watch` itself, on which pairs of functions of both levels exchange messages of several sizes, as a demonstration.
 */
export class OwnBoard implements Driven {
  readonly board: EmulatedBoard;
  readonly isStepped: boolean;
  /** Steps a second of a stepped board. */
  pace: number;
  private readonly ends: End[] = [];
  private readonly completions = Array.from({ length: completionsAtOnce }, () => new Completion());
  private readonly ticksPerNanosecond: number;
  private messages = 0;
  private readonly due = new StepsDue();

  constructor(options: BoardOptions, scope: Scope, pace: number) {
    this.board = scope.use(new EmulatedBoard(options));
    this.isStepped = options.progress === 'stepped';
    this.pace = pace;
    const { identity } = scope.use(openDevice(this.board.open(0))).queryDevice();
    this.ticksPerNanosecond = identity.clockFrequency / nanosecondsPerSecond;
    const { underlyingFunctions } = identity;
    for (const level of [QualityOfServiceLevel.low, QualityOfServiceLevel.high]) {
      const numbers = [2 * level + 1, 2 * level + 2];
      if (numbers[1]! >= underlyingFunctions) break;
      this.connect(
        numbers.map((number) => scope.use(openDevice(this.board.open(number)))),
        level,
      );
    }
  }

  /** Device clock, nanoseconds. */
  get time(): number {
    return Number(this.board.now()) / this.ticksPerNanosecond;
  }

  /** Advances by the elapsed time: a stepped board by steps, another board by one message of each queue pair. */
  goOn(milliseconds: number): void {
    if (!this.isStepped) {
      this.exchange();
      return;
    }
    this.step(this.due.after(milliseconds, this.pace));
  }

  /** Stepped: executes this number of units of work. */
  step(count: number): void {
    for (let done = 0; done < count; done++) {
      if (this.board.step(1) === 0) this.board.advanceTime(1000);
      this.exchange();
    }
  }

  private connect(contexts: readonly Context[], level: QualityOfServiceLevel): void {
    const made = contexts.map((context): End => {
      const domain = context.createProtectionDomain();
      const completionQueue = context.createCompletionQueue({ entries: 4 * entries });
      const queuePair = domain.createQueuePair({
        type: 'RC',
        sendCompletionQueue: completionQueue,
        receiveCompletionQueue: completionQueue,
        level,
        capabilities: { maxSendWorkRequests: entries, maxReceiveWorkRequests: entries },
      });
      return { context, queuePair, completionQueue, memory: domain.allocate(2 * messageBytes) };
    });
    const [one, other] = made as [End, End];
    const addresses = made.map(({ context, queuePair }) => addressOf(context, queuePair));
    connectQueuePair(one.queuePair, addresses[0]!, addresses[1]!);
    connectQueuePair(other.queuePair, addresses[1]!, addresses[0]!);
    for (const end of made) for (let index = 0; index < 2 * depth; index++) this.receive(end);
    for (const end of made) for (let index = 0; index < depth; index++) this.send(end);
    this.ends.push(...made);
  }

  /** Answers each received message by another one. */
  private exchange(): void {
    for (const end of this.ends) {
      const count = end.completionQueue.poll(this.completions);
      for (const { workQueue } of this.completions.slice(0, count)) {
        if (workQueue === sendQueue) continue;
        this.receive(end);
        this.send(end);
      }
    }
  }

  private receive({ queuePair, memory }: End): void {
    queuePair.postReceive({ wrId: 1, scatter: [memory.slice(messageBytes, messageBytes)] });
  }

  private send({ queuePair, memory }: End): void {
    const bytes = 2 ** (this.messages++ % 12);
    queuePair.postSend({ wrId: 2, opcode: Opcode.send, gather: [memory.slice(0, bytes)], signaled: true });
  }
}
