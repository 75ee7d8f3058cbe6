import { checkKeys, wrongType } from '../driver/arguments.ts';
import type { CompletionEvents } from '../driver/completion_events.ts';
import { Completion } from '../driver/completion.ts';
import type { CompletionQueue as QueueInDevice } from '../driver/completion_queue.ts';
import type { CompletionChannel } from './completion_channel.ts';
import type { Context } from './context.ts';
import { checkWaitOptions, type WaitOptions } from './polling_wait.ts';
import { VerbsObject } from './verbs_object.ts';
import { Waiters } from './waiters.ts';

/** How to wait for completions. */
export interface CompletionWaitOptions extends WaitOptions {
  /** Wake up only for completions that the peer asked an event for, and for failures. */
  readonly solicitedOnly?: boolean;
}

/** When a completion queue that is waited for wakes up: as `ibv_moderate_cq`. */
export interface CompletionModeration {
  /** Completions, 0 to 65535. */
  readonly count: number;
  /** Microseconds after the first, 0 to 65535. */
  readonly period: number;
}

const moderationKeys = new Set<keyof CompletionModeration>(['count', 'period']);
const completionsAtOnce = 32;

/** A completion queue: where the device says that work requests are done. */
export class CompletionQueue extends VerbsObject {
  readonly label: string;
  /** The driver's object; for tools. */
  readonly driver: QueueInDevice;
  /** Where it was made. */
  readonly context: Context;
  private readonly events: CompletionEvents;
  private readonly channel: CompletionChannel | undefined;
  private readonly any = new Waiters();
  private readonly solicited = new Waiters();

  /** {@link Context.createCompletionQueue} makes completion queues. */
  constructor(
    context: Context,
    driver: QueueInDevice,
    events: CompletionEvents,
    channel?: CompletionChannel,
  ) {
    super(channel === undefined ? [context] : [context, channel]);
    this.channel = channel;
    channel?.add(this);
    this.context = context;
    this.driver = driver;
    this.events = events;
    this.label = `completion queue ${driver.number}`;
    events.listen(
      driver,
      () => this.onEvent(),
      () => this.ask(),
    );
    driver.afterFailure = () => this.wakeAll();
  }

  /** Completions that it holds. */
  get capacity(): number {
    return this.driver.capacity;
  }

  /**
   * Gives it room for at least `entries` completions, more or fewer than before; a power of two up to 32768 is used. Nothing that
   * lies in it is lost, and work goes on meanwhile (InfiniBand volume 1, 11.2.8.3).
   * @throws VerbsError EINVAL: more completions lie in it than that, a size that there is not, or the queue was overrun; ENOMEM: no
   * memory is left. Nothing is changed then
   */
  resize(entries: number): void {
    this.requireOpen('resizeCompletionQueue');
    this.driver.resize(entries);
  }

  /**
   * From now on a wait ends with completion number `count` since it began, or `period` microseconds after the first of them,
   * whichever is earlier; `poll()` finds completions as before. With either of them 0, as in the beginning, it ends with the first.
   * A wait that finds a completion there ends at once.
   * @throws VerbsError EINVAL: not 0 to 65535; TypeError: a key that there is not
   */
  moderate(moderation: CompletionModeration): void {
    this.requireOpen('moderateCompletionQueue');
    checkKeys(moderationKeys, moderation);
    this.driver.moderate(moderation.count, moderation.period);
  }

  /**
   * Takes completions into the caller's objects, oldest first. Never waits; where polling drives the device, a poll that finds
   * nothing lets it work.
   * @returns how many were filled in
   * @throws VerbsError when all that came was taken and nothing will come: EOVERFLOW, the queue was overrun; ENODEV, the device is
   * gone. The driver learns of both while a caller waits, or when a verb asks the device
   */
  poll(completions: readonly Completion[]): number {
    this.requireOpen('pollCompletionQueue');
    if (!Array.isArray(completions)) {
      throw wrongType('completions', 'an array of Completion objects', completions);
    }
    return this.driver.poll(completions);
  }

  /**
   * Waits, without using the processor, until a completion may be there; at once if one is. Take it by {@link poll}: another
   * waiter may have been first.
   * @throws the signal's reason; DOMException TimeoutError; no completion is lost by either. VerbsError as {@link poll}; TypeError,
   * RangeError: the options
   */
  async wait({ solicitedOnly = false, ...options }: CompletionWaitOptions = {}): Promise<void> {
    this.requireOpen('waitForCompletion');
    checkWaitOptions(options);
    options.signal?.throwIfAborted();
    const { driver } = this;
    if (driver.hasCompletion && (!solicitedOnly || driver.failure !== undefined)) return;
    if (driver.failure !== undefined) throw driver.failure;
    const waited = (solicitedOnly ? this.solicited : this.any).wait(options);
    driver.arm(solicitedOnly);
    this.events.hold();
    try {
      await waited;
    } finally {
      this.events.release();
    }
  }

  /** Completions as they come, each an object of its own, for ever. @throws as {@link wait} */
  async *completions(options: CompletionWaitOptions = {}): AsyncGenerator<Completion, never, undefined> {
    for (;;) {
      const completions = Array.from({ length: completionsAtOnce }, () => new Completion());
      const count = this.poll(completions);
      if (count === 0) await this.wait(options);
      else yield* completions.slice(0, count);
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<Completion, never, undefined> {
    return this.completions();
  }

  protected destroy(): void {
    this.driver.destroy();
  }

  protected override ended(): void {
    this.channel?.remove(this);
    this.events.forget(this.driver);
    const reason = new DOMException(`${this.label} was closed`, 'AbortError');
    this.any.abandon(reason);
    this.solicited.abandon(reason);
  }

  /** Nothing comes any more: those who wait take what is left, or learn of it. */
  private wakeAll(): void {
    for (const waiters of [this.any, this.solicited]) {
      if (this.driver.hasCompletion) waiters.wake();
      else waiters.abandon(this.driver.failure);
    }
  }

  /** The event that is waited for may have been lost, or what asked for it: what lies here is told, and else it is asked for again. */
  private ask(): void {
    if (this.any.count === 0 && this.solicited.count === 0) return;
    if (this.any.count > 0 && this.driver.hasCompletion) this.any.wake();
    else this.driver.arm(this.any.count === 0);
  }

  /** The event that was asked for has come; what it told of may have been taken since. */
  private onEvent(): void {
    this.solicited.wake();
    if (this.driver.hasCompletion) this.any.wake();
    else if (this.any.count > 0) this.driver.arm();
  }
}
