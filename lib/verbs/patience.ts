import { setImmediate, setTimeout } from 'node:timers/promises';

/** How long to wait. */
export interface WaitOptions {
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds without anything new, after which a TimeoutError ends the wait. Default: for ever. */
  readonly timeout?: number;
}

const turnsBeforeSleep = 64;
const sleepMilliseconds = 1;

/** Waits for what no interrupt tells: at first from one turn of the event loop to the next, then a millisecond at a time. */
export class Patience {
  private readonly signal: AbortSignal | undefined;
  private readonly timeout: number;
  private since = performance.now();
  private turns = 0;

  constructor({ signal, timeout = Infinity }: WaitOptions) {
    this.signal = signal;
    this.timeout = timeout;
  }

  /** Something came. */
  refresh(): void {
    this.since = performance.now();
    this.turns = 0;
  }

  /** Waits a moment. @throws the signal's reason; DOMException TimeoutError */
  async wait(): Promise<void> {
    this.signal?.throwIfAborted();
    if (performance.now() - this.since >= this.timeout) {
      throw new DOMException(`nothing came within ${this.timeout} ms`, 'TimeoutError');
    }
    this.turns += 1;
    await (this.turns <= turnsBeforeSleep ? setImmediate() : setTimeout(sleepMilliseconds));
  }
}
