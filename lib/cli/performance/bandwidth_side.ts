import type { QueuePair, SendRequest } from '../../index.ts';
import type { Run } from './data.ts';
import type { Side } from './drive.ts';
import type { End } from './end.ts';
import type { Extent } from './stopwatch.ts';

const nothing = (): void => {};
const mostStretches = 1000;

/** Posting parameters. */
export interface Posting {
  /** Messages of each queue pair, or a duration. */
  readonly extent: Extent;
  /** Outstanding work requests of each queue pair. */
  readonly txDepth: number;
  /** Work requests per signaled one; the last is always signaled. */
  readonly cqModeration: number;
  /** Work requests per call that posts. */
  readonly postList: number;
}

/** The messages of one queue pair. */
class Flow {
  posted = 0;
  completed = 0;
  private readonly queuePair: QueuePair;
  private readonly posting: Posting;
  private readonly signaled: SendRequest;
  private readonly unsignaled: SendRequest;
  private readonly list: SendRequest[] = [];
  private last: number;

  constructor(end: End, index: number, bytes: number, posting: Posting) {
    this.queuePair = end.queuePairs[index]!;
    this.posting = posting;
    this.signaled = end.request(index, bytes, true);
    this.unsignaled = end.request(index, bytes, false);
    this.last = 'iterations' in posting.extent ? posting.extent.iterations : Infinity;
  }

  get done(): boolean {
    return this.completed === this.last;
  }

  /** Posts as many messages as the send queue has room for. */
  post(): void {
    const { txDepth, postList } = this.posting;
    for (;;) {
      const count = Math.min(postList, this.last - this.posted);
      if (count <= 0 || this.posted - this.completed + count > txDepth) return;
      if (count === 1) this.queuePair.postSend(this.next());
      else {
        this.list.length = count;
        for (let each = 0; each < count; each++) this.list[each] = this.next();
        this.queuePair.postSend(this.list);
      }
    }
  }

  /** Handles the completion of a signaled message, which also completes those before it. */
  complete(): void {
    this.completed = Math.min(this.posted, this.completed + this.posting.cqModeration);
  }

  /** Starts no more messages. If the last one is not signaled, one more follows. */
  finish(): void {
    if (this.last !== Infinity) return;
    const isSignaled = this.posted % this.posting.cqModeration === 0;
    this.last = isSignaled ? this.posted : this.posted + 1;
  }

  private next(): SendRequest {
    this.posted += 1;
    const isSignaled = this.posted % this.posting.cqModeration === 0 || this.posted === this.last;
    return isSignaled ? this.signaled : this.unsignaled;
  }
}

/** An end that sends at full speed on all of its queue pairs, and polls for received messages. */
export class SendingSide implements Side {
  readonly bytes: number;
  private readonly end: End;
  private readonly flows: readonly Flow[];
  private readonly deadline: number;
  private readonly window: number;
  private begin = 0;
  private ended = 0;
  private windowBegin = 0;
  private windowMessages = 0;
  private fastest = 0; // messages per millisecond
  /** Messages per millisecond in each interval; of a long run, in the first intervals. */
  readonly stretches: number[] = [];
  private readonly complete = (index: number): void => this.flows[index]!.complete();

  constructor(end: End, { bytes }: Run, posting: Posting) {
    const { extent, txDepth } = posting;
    this.end = end;
    this.bytes = bytes;
    this.flows = end.queuePairs.map((_, index) => new Flow(end, index, bytes, posting));
    this.deadline = 'seconds' in extent ? extent.seconds * 1000 : Infinity;
    const hundredth = 'iterations' in extent ? extent.iterations / 100 : 0;
    this.window = Math.ceil(Math.max(txDepth, hundredth)) * this.flows.length;
  }

  get done(): boolean {
    return this.ended > 0;
  }

  get messages(): number {
    return this.flows.reduce((sum, { completed }) => sum + completed, 0);
  }

  /** Messages of each queue pair. */
  get messagesOfEach(): number[] {
    return this.flows.map(({ completed }) => completed);
  }

  /** Messages per millisecond, from the first message to the end of the last. */
  get rate(): number {
    return this.messages / (this.ended - this.begin);
  }

  /** Messages per millisecond in the fastest interval: a hundredth of all messages, or a whole send queue if that is more. */
  get peak(): number {
    return Math.max(this.fastest, this.rate);
  }

  /** These polls drive its device, so that it does not sleep. */
  advance(): boolean {
    if (this.begin === 0) this.begin = this.windowBegin = performance.now();
    const worked = this.end.poll(this.complete, nothing);
    if (this.done) return true;
    if (worked) this.clock();
    let done = true;
    for (const flow of this.flows) {
      flow.post();
      done = flow.done && done;
    }
    if (done) this.ended = performance.now();
    return true;
  }

  private clock(): void {
    const now = performance.now();
    if (now - this.begin >= this.deadline) for (const flow of this.flows) flow.finish();
    const { messages } = this;
    if (messages - this.windowMessages < this.window) return;
    const rate = (messages - this.windowMessages) / (now - this.windowBegin);
    this.fastest = Math.max(this.fastest, rate);
    if (this.stretches.length < mostStretches && rate < Infinity) this.stretches.push(rate);
    this.windowBegin = now;
    this.windowMessages = messages;
  }
}
