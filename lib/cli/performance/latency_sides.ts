import type { SendRequest } from '../../index.ts';
import type { Run } from './data.ts';
import type { Side } from './drive.ts';
import type { End } from './end.ts';
import { PassiveSide } from './passive_side.ts';
import type { Stopwatch } from './stopwatch.ts';

/** Work requests per signaled one, whose completion frees the entries of all. A power of two. */
const signaledEvery = 32;
/** Entries of the send queue that a latency measurement needs. */
export const latencyDepth = 2 * signaledEvery;

const nothing = (): void => {};

/** Detects the next message of a ping-pong. */
interface PingPong {
  /** Polls completions. Returns whether a message has arrived. */
  look(): boolean;
  /** Called before a message is sent. */
  prepare(): void;
}

/** Detects a SEND by the completion of a receive. */
class SendPingPong implements PingPong {
  private readonly end: End;
  private came = false;
  private readonly received = (): void => {
    this.came = true;
  };

  constructor(end: End) {
    this.end = end;
  }

  look(): boolean {
    this.came = false;
    this.end.poll(nothing, this.received);
    return this.came;
  }

  prepare(): void {}
}

/** Detects an RDMA WRITE in memory: its last byte counts the messages. */
class WritePingPong implements PingPong {
  private readonly end: End;
  private readonly source: Uint8Array;
  private readonly target: Uint8Array;
  private readonly last: number;
  private count: number;

  constructor(end: End, bytes: number) {
    this.end = end;
    this.source = end.area('local', 0);
    this.target = end.area('exposed', 0);
    this.last = bytes - 1;
    this.count = this.target[this.last]!;
  }

  look(): boolean {
    this.end.poll(nothing, nothing);
    const seen = Atomics.load(this.target, this.last);
    if (seen === this.count) return false;
    this.count = seen;
    return true;
  }

  prepare(): void {
    this.source[this.last]! += 1;
  }
}

/** A side of a ping-pong. The side with a stopwatch begins, and is done when the answer to its last message has arrived. */
class PingPongSide implements Side {
  private readonly end: End;
  private readonly pingPong: PingPong;
  private readonly stopwatch: Stopwatch | undefined;
  private readonly requests: Readonly<Record<'signaled' | 'unsignaled', SendRequest>>;
  private due: boolean;

  constructor(end: End, { operation, bytes }: Run, stopwatch: Stopwatch | undefined) {
    this.end = end;
    this.pingPong = operation === 'send' ? new SendPingPong(end) : new WritePingPong(end, bytes);
    this.stopwatch = stopwatch;
    this.requests = {
      signaled: end.request(0, bytes, true),
      unsignaled: end.request(0, bytes, false),
    };
    this.due = stopwatch !== undefined;
  }

  get done(): boolean {
    return this.stopwatch?.stopped ?? !this.due;
  }

  advance(): boolean {
    const came = this.pingPong.look();
    if (came) this.due = true;
    const queuePair = this.end.queuePairs[0]!;
    const { outstanding, capacity, nextSequenceNumber } = queuePair.driver.sendQueue;
    if (!this.due || outstanding === capacity || this.stopwatch?.stopped === true) return came;
    if (this.stopwatch !== undefined) {
      this.stopwatch.lap();
      if (this.stopwatch.stopped) return true;
    }
    this.due = false;
    this.pingPong.prepare();
    const isSignaled = nextSequenceNumber % signaledEvery === signaledEvery - 1;
    queuePair.postSend(isSignaled ? this.requests.signaled : this.requests.unsignaled);
    return true;
  }
}

/** READs and atomics, one at a time, each until its answer has arrived. */
class RequestingSide implements Side {
  private readonly end: End;
  private readonly stopwatch: Stopwatch;
  private readonly request: SendRequest;
  private due = true;
  private readonly received = (): void => {
    this.due = true;
  };

  constructor(end: End, { bytes }: Run, stopwatch: Stopwatch) {
    this.end = end;
    this.stopwatch = stopwatch;
    this.request = end.request(0, bytes, true);
  }

  get done(): boolean {
    return this.stopwatch.stopped;
  }

  advance(): boolean {
    const came = this.end.poll(this.received, nothing);
    if (!this.due || this.done) return came;
    this.stopwatch.lap();
    if (this.stopwatch.stopped) return true;
    this.due = false;
    this.end.queuePairs[0]!.postSend(this.request);
    return true;
  }
}

/** The side that takes the times. When done, it still polls for messages. */
export function measuringSide(end: End, run: Run, stopwatch: Stopwatch): Side {
  return isPingPong(run) ? new PingPongSide(end, run, stopwatch) : new RequestingSide(end, run, stopwatch);
}

/** Its peer. */
export function answeringSide(end: End, run: Run): Side {
  return isPingPong(run) ? new PingPongSide(end, run, undefined) : new PassiveSide(end);
}

/** Whether both sides send, so that the latency is half of a round trip. */
export function isPingPong({ operation }: Pick<Run, 'operation'>): boolean {
  return operation === 'send' || operation === 'write';
}
