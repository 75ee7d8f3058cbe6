import { once } from 'node:events';
import type { Socket } from 'node:net';

import { unlessGivenUp } from '../connect/give_up.ts';
import { meet, type MeetingPlace } from './meeting.ts';
import type { Scope } from './scope.ts';

/** Messages between the ends, in order. `alive` may come at any time, and `failed` in place of any other. */
export type Word = 'greeting' | 'address' | 'connected' | 'ready' | 'alive' | 'done' | 'result' | 'failed';

const longestLine = 2 ** 20;
const noTime = Infinity;
/** Milliseconds for the delivery of the last message. */
const farewell = 200;
/** Milliseconds of silence after which the kernel probes the other machine. */
const keepAliveAfter = 10_000;

/**
 * Exchanges messages with an end in another process over TCP: lines of JSON, {say, …}. The other end may be a program of libibverbs,
 * which uses another format; its first byte shows which one ({@link isOurs}).
 */
export class Conversation {
  /** Addresses of this end and of the other end, as this end sees them. */
  readonly addresses: { readonly local: string; readonly remote: string };
  /** The other end is a program of libibverbs, which does not read messages. */
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
    socket.on('error', () => {}); // the close event follows
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.end.abort();
        this.wake();
      });
    }
  }

  /** Connects to the other end until the scope closes, and reports a failure of the scope to it. @throws as meet */
  static async meet(place: MeetingPlace, scope: Scope): Promise<Conversation> {
    const socket = await meet(place, scope.signal);
    return scope.hold(new Conversation(socket, scope.signal, place.timeout), (conversation, failure) =>
      conversation.close(failure),
    );
  }

  /** Aborted when the other end has disconnected. */
  get over(): AbortSignal {
    return this.end.signal;
  }

  /** The reason that the other end gave before it disconnected early. */
  whyOver(): Error {
    const last = readLine(this.received.toString('utf8').trimEnd().split('\n').at(-1)!);
    return last?.say === 'failed' ? failureOf(last) : gone();
  }

  /** Whether the next message of the other end is a line of JSON. @throws Error it sends nothing, or has disconnected */
  async isOurs(): Promise<boolean> {
    while (this.received.length === 0) await this.more(this.timeout);
    return this.received[0] === '{'.charCodeAt(0);
  }

  /** Sends bytes of another format. */
  write(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Receives bytes of another format. @throws Error they do not arrive */
  async read(bytes: number): Promise<string> {
    while (this.received.length < bytes) await this.more(this.timeout);
    return this.take(bytes);
  }

  say(word: Word, said: object = {}): void {
    this.socket.write(`${JSON.stringify({ say: word, ...said })}\n`);
  }

  /**
   * @param timeout seconds within which the other end must send a message
   * @throws Error it sends another message or none, has failed or disconnected
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

  /** As {@link receive}, without a time limit. */
  async hearAtLast<Said>(word: Word): Promise<Said> {
    return this.receive<Said>(word, noTime);
  }

  /** Waits for an action of the other end. @throws Error it does not act in time; the signal's reason; an error of `promise` */
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

  /** Waits for more bytes. @throws Error none arrive in time, or the other end has disconnected; the signal's reason */
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
