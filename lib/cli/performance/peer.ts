import { once } from 'node:events';
import type { Socket } from 'node:net';

import { meet, partFrom, type MeetingPlace } from '../meeting.ts';
import { drive, type Driving, type Side } from './drive.ts';
import type { EndAddress } from './end.ts';

/** What both ends measure alike. */
export type Settings = Readonly<Record<string, unknown>>;

/** Of what two ends say to each other. Only ends of one version understand each other. */
const version = 1;
const longestLine = 2 ** 20;

type Word = 'greeting' | 'connected' | 'ready' | 'done' | 'result' | 'failed';

interface Greeting {
  readonly version: number;
  readonly settings: Settings;
  readonly address: EndAddress;
}

/**
 * The end of a measurement in another process, over TCP: lines of JSON, {say, …}. Both ends greet each other with what they measure
 * and where they are, say when they are connected, ready for a pass and done with it, and the one that measures says what came of it.
 */
export class Peer {
  private readonly socket: Socket;
  private readonly signal: AbortSignal;
  private text = '';

  private constructor(socket: Socket, signal: AbortSignal) {
    this.socket = socket;
    this.signal = signal;
    socket.setEncoding('utf8');
    socket.setNoDelay(true);
    socket.on('error', () => {}); // it has gone: whoever listens is told so
  }

  /** @throws Error the other end cannot be met */
  static async meet(place: MeetingPlace): Promise<Peer> {
    return new Peer(await meet(place), place.signal);
  }

  /**
   * Exchanges addresses.
   * @param connect connects this end to the other
   * @throws Error the other end is no such program, or measures something else
   */
  async greet(
    settings: Settings,
    address: EndAddress,
    connect: (remote: EndAddress) => void,
  ): Promise<EndAddress> {
    this.say('greeting', { version, settings, address });
    const greeting = await this.hear<Greeting>('greeting');
    if (greeting.version !== version) {
      throw new Error(
        `the other end speaks version ${greeting.version}, this one ${version}; use the same hca at both ends`,
      );
    }
    for (const [name, own] of Object.entries(settings)) {
      const [here, there] = [own, greeting.settings[name]].map((setting) => JSON.stringify(setting));
      if (here === there) continue;
      throw new Error(`${name} is ${here} here and ${there} at the other end; give both ends the same`);
    }
    connect(greeting.address);
    this.say('connected', {});
    await this.hear('connected');
    return greeting.address;
  }

  /**
   * Drives sides until they are done, and the other end is done with its own.
   * @param tell what the other end is told then @returns what it tells
   * @throws as drive; Error the other end has gone or failed
   */
  async drive<Tally extends object>(
    sides: readonly Side[],
    driving: Driving,
    tell: () => Tally,
  ): Promise<Tally> {
    this.say('ready', {});
    await this.hear('ready');
    const companion = new Companion<Tally>(sides, this, tell);
    const wake = AbortSignal.any([driving.signal, companion.settled]);
    try {
      await drive([...sides, companion], { ...driving, signal: wake });
    } catch (error) {
      const isWoken = error instanceof Error && error.name === 'AbortError' && !driving.signal.aborted;
      if (!isWoken) throw error;
      await drive([...sides, companion], driving);
    }
    return companion.tally!;
  }

  say(word: Word, said: object): void {
    this.socket.write(`${JSON.stringify({ say: word, ...said })}\n`);
  }

  /** @throws Error the other end says something else, fails or has gone */
  async hear<Said>(word: Word): Promise<Said> {
    const line = await this.line();
    const said = readLine(line);
    if (said?.say === 'failed') throw new Error(`the other end failed: ${String(said['message'])}`);
    if (said?.say !== word) {
      throw new Error(`the other end says ${JSON.stringify(line.slice(0, 80))}, but a ${word} is due`);
    }
    return said as Said;
  }

  /** All is done: until the other end has what it needs of this one too. */
  part(): Promise<void> {
    return partFrom(this.socket);
  }

  /** This end has failed. */
  fail(error: unknown): void {
    this.say('failed', { message: error instanceof Error ? error.message : String(error) });
    this.socket.destroySoon();
  }

  private async line(): Promise<string> {
    for (;;) {
      const end = this.text.indexOf('\n');
      if (end >= 0) {
        const line = this.text.slice(0, end);
        this.text = this.text.slice(end + 1);
        return line;
      }
      if (this.text.length > longestLine) throw new Error('the other end says a line without an end');
      const taken = this.socket.read() as string | null;
      if (taken === null) await this.more();
      else this.text += taken;
    }
  }

  private async more(): Promise<void> {
    if (this.socket.readableEnded || this.socket.destroyed) {
      throw new Error('the other end has gone before all was measured');
    }
    const stop = new AbortController();
    const signal = AbortSignal.any([this.signal, stop.signal]);
    const waits = ['readable', 'end', 'close'].map((event) => once(this.socket, event, { signal }));
    try {
      await Promise.race(waits);
    } finally {
      stop.abort();
    }
  }
}

/** Tells the other end when the sides of this one are done, and is done when the other end has told. */
class Companion<Tally extends object> implements Side {
  tally: Tally | undefined;
  private readonly sides: readonly Side[];
  private readonly peer: Peer;
  private readonly tell: () => Tally;
  private readonly heard = new AbortController();
  private said = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(sides: readonly Side[], peer: Peer, tell: () => Tally) {
    this.sides = sides;
    this.peer = peer;
    this.tell = tell;
    void this.listen();
  }

  /** Aborted when the other end is done, or has failed. */
  get settled(): AbortSignal {
    return this.heard.signal;
  }

  get done(): boolean {
    return this.said && this.tally !== undefined;
  }

  advance(): void {
    if (this.failure !== undefined) throw this.failure.error;
    if (this.said || !this.sides.every(({ done }) => done)) return;
    this.said = true;
    this.peer.say('done', this.tell());
  }

  private async listen(): Promise<void> {
    try {
      this.tally = await this.peer.hear<Tally>('done');
    } catch (error) {
      this.failure = { error };
    }
    this.heard.abort();
  }
}

function readLine(line: string): { readonly say?: unknown; readonly [name: string]: unknown } | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return typeof said === 'object' && said !== null ? { ...said } : undefined;
  } catch {
    return undefined;
  }
}
