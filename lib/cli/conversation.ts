import { once } from 'node:events';
import type { Socket } from 'node:net';

import { unlessGivenUp } from '../connect/give_up.ts';
import { meet, type MeetingPlace } from './meeting.ts';
import type { Scope } from './scope.ts';

/** Messages between the ends, in their order; `alive` at any time, and `failed` instead of any other. */
export type Word = 'greeting' | 'address' | 'connected' | 'ready' | 'alive' | 'done' | 'result' | 'failed';

const longestLine = 2 ** 20;
const noTime = Infinity;
/** Milliseconds that the last words to the other end may take. */
const farewell = 200;
/** Milliseconds without a word after which the kernel looks whether the other machine is there. */
const keepAliveAfter = 10_000;

/**
 * The messages of two ends in two processes over TCP: lines of JSON, {say, …}. Where the other end may be a program of libibverbs,
 * which speaks another language, its first byte tells: {@link isOurs}.
 */
export class Conversation {
  /** Of this end, and of the other one, as this end sees them. */
  readonly addresses: { readonly local: string; readonly remote: string };
  /** The other end is a program of libibverbs: words are not for it. */
  isForeign = false;
  private readonly socket: Socket;
  private readonly signal: AbortSignal;
  private readonly timeout: number;
  private received = Buffer.alloc(0);
  private readonly end = new AbortController();
  private readonly wakers: (() => void)[] = [];

  private constructor(socket: Socket, signal: AbortSignal, timeout: number) {
    this.socket = socket;
    this.signal = signal;
    this.timeout = timeout;
    this.addresses = { local: socket.localAddress ?? '', remote: socket.remoteAddress ?? '' };
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveAfter);
    socket.on('data', (data: Buffer) => {
      this.received = Buffer.concat([this.received, data]);
      if (this.received.length > longestLine) socket.pause();
      this.wake();
    });
    socket.on('error', () => {}); // it has gone: the close that follows tells
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.end.abort();
        this.wake();
      });
    }
  }

  /** Meets the other end, for as long as the scope lasts; when it ends by a failure, the other end is told. @throws as meet */
  static async meet(place: MeetingPlace, scope: Scope): Promise<Conversation> {
    const socket = await meet(place, scope.signal);
    return scope.hold(new Conversation(socket, scope.signal, place.timeout), (conversation, failure) =>
      conversation.close(failure),
    );
  }

  /** Aborted when the other end has gone. */
  get over(): AbortSignal {
    return this.end.signal;
  }

  /** Of an end that has gone too soon: what it has said of it. */
  whyOver(): Error {
    const last = readLine(this.received.toString('utf8').trimEnd().split('\n').at(-1)!);
    return last?.say === 'failed' ? failureOf(last) : gone();
  }

  /** Whether what the other end says next is a line of JSON. @throws Error it says nothing, or has gone */
  async isOurs(): Promise<boolean> {
    while (this.received.length === 0) await this.more(this.timeout);
    return this.received[0] === '{'.charCodeAt(0);
  }

  /** Bytes of another language. */
  write(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Bytes of another language. @throws Error they do not come */
  async read(bytes: number): Promise<string> {
    while (this.received.length < bytes) await this.more(this.timeout);
    return this.take(bytes);
  }

  say(word: Word, said: object = {}): void {
    this.socket.write(`${JSON.stringify({ say: word, ...said })}\n`);
  }

  /**
   * @param timeout seconds in which the other end has to say something
   * @throws Error it says something else, or nothing, has failed or gone
   */
  async receive<Said>(word: Word, timeout = this.timeout): Promise<Said> {
    for (;;) {
      const line = await this.line(timeout);
      const said = readLine(line);
      if (said?.say === 'alive') continue;
      if (said?.say === 'failed') throw failureOf(said);
      if (said?.say !== word) {
        throw new Error(`the other end says ${JSON.stringify(line.slice(0, 80))}, but a ${word} is due`);
      }
      return said as Said;
    }
  }

  /** As {@link receive}, without an end: for what ends by itself. */
  async hearAtLast<Said>(word: Word): Promise<Said> {
    return this.receive<Said>(word, noTime);
  }

  /** Waits for an action of the other end, in time. @throws Error it does not; the signal's reason; what `promise` throws */
  async inTime<Result>(promise: Promise<Result>, timeout = this.timeout): Promise<Result> {
    try {
      return await unlessGivenUp(promise, { signal: this.signal, timeout: timeout * 1000 });
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'TimeoutError')) throw error;
      throw new Error(`the other end sent nothing for ${timeout} s; --timeout sets how long to wait`, {
        cause: error,
      });
    }
  }

  private wake(): void {
    for (const waker of this.wakers.splice(0)) waker();
  }

  private async close(failure: unknown): Promise<void> {
    const closed = once(this.socket, 'close');
    if (this.socket.closed) return;
    this.socket.resume();
    if (failure !== undefined && !this.isForeign) this.say('failed', { message: this.messageOf(failure) });
    this.socket.end();
    // A finished end waits for the other one, which may still need its device.
    const timeout = failure === undefined ? this.timeout * 1000 : farewell;
    const { signal } = this;
    await unlessGivenUp(closed, signal.aborted ? { timeout } : { signal, timeout }).catch(() => {});
    this.socket.destroy();
  }

  private messageOf(failure: unknown): string {
    if (this.signal.aborted) return 'it was interrupted';
    return failure instanceof Error ? failure.message : String(failure);
  }

  private async line(timeout: number): Promise<string> {
    for (;;) {
      const end = this.received.indexOf('\n');
      if (end >= 0) return this.take(end + 1).slice(0, -1);
      if (this.received.length > longestLine) throw new Error('the other end sent an unterminated line');
      await this.more(timeout);
    }
  }

  private take(bytes: number): string {
    const taken = this.received.toString('utf8', 0, bytes);
    this.received = this.received.subarray(bytes);
    if (this.received.length <= longestLine) this.socket.resume();
    return taken;
  }

  /** Until more has come. @throws Error it has not in time, or the other end has gone; the signal's reason */
  private async more(timeout: number): Promise<void> {
    this.signal.throwIfAborted();
    if (this.over.aborted) throw gone();
    const come = new Promise<void>((resolve) => {
      this.wakers.push(resolve);
    });
    await this.inTime(come, timeout);
  }
}

interface Saying {
  readonly say?: unknown;
  readonly message?: unknown;
}

function gone(): Error {
  return new Error('the other end disconnected too early');
}

function failureOf({ message }: Saying): Error {
  return new Error(`the other end failed: ${String(message)}`);
}

function readLine(line: string): Saying | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return typeof said === 'object' && said !== null ? { ...said } : undefined;
  } catch {
    return undefined;
  }
}
