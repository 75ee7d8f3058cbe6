import { checkKeys, wrongType } from '../driver/arguments.ts';
import type { CompletionEvents } from '../driver/completion_events.ts';
import { Completion } from '../driver/completion.ts';
import type { CompletionQueue as QueueInDevice } from '../driver/completion_queue.ts';
import type { CompletionChannel } from './completion_channel.ts';
import type { Context } from './context.ts';
import { PacedPoll, type PacedPollOptions } from './paced_poll.ts';
import { checkWaitOptions, type WaitOptions } from './polling_wait.ts';
import { VerbsObject } from './verbs_object.ts';
import { Waiters } from './waiters.ts';

/** Options for waiting for completions. */
export interface CompletionWaitOptions extends WaitOptions {
  /** Wake up only for failures and for completions for which the peer requested an event. */
  readonly solicitedOnly?: boolean;
}

/** Limits at which a completion queue raises its event, as in `struct ibv_moderate_cq`. */
export interface CompletionModeration {
  /** Completions, 0 to 65535. */
  readonly count: number;
  /** Microseconds after the first, 0 to 65535. */
  readonly period: number;
}

const moderationKeys = new Set<keyof CompletionModeration>(['count', 'period']);
const completionsAtOnce = 32;

/** A completion queue: the device reports finished work requests here. */
export class CompletionQueue extends VerbsObject {
  readonly label: string;
  /** The driver's object, for tools. */
  readonly driver: QueueInDevice;
  /** The context that created it. */
  readonly context: Context;
  private readonly events: CompletionEvents;
  private readonly channel: CompletionChannel | undefined;
  private readonly any = new Waiters();
  private readonly solicited = new Waiters();
  private paced: PacedPoll | undefined;

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

  /** Number of completions that the queue holds. */
  get capacity(): number {
    return this.driver.capacity;
  }

  /**
   * Changes the capacity to at least `entries` completions, more or fewer than before; the driver uses a power of two up to 32768. No
   * completion is lost, and work continues meanwhile (InfiniBand volume 1, 11.2.8.3).
   * @throws VerbsError EINVAL: the queue holds more completions than that, the size is out of range, or the queue has overrun; ENOMEM: no
   * memory is left. The queue is then unchanged
   */
  resize(entries: number): void {
    this.requireOpen('resizeCompletionQueue');
    this.driver.resize(entries);
  }

  /**
   * Moderates events: a wait now ends with completion number `count` since the wait began, or `period` microseconds after the first of
   * them, whichever is earlier; `poll()` finds completions as before. If either is 0 (the default), a wait ends with the first completion.
   * A wait that finds a completion in the queue ends at once.
   * @throws VerbsError EINVAL: not 0 to 65535; TypeError: an unknown key
   */
  moderate(moderation: CompletionModeration): void {
    this.requireOpen('moderateCompletionQueue');
    checkKeys(moderationKeys, moderation);
    this.driver.moderate(moderation.count, moderation.period);
  }

  /**
   * Copies completions into the caller's objects, oldest first. It never waits. If polling drives the device (shared progress), a poll that
   * finds no completion runs the device.
   * @returns the number of objects filled in
   * @throws VerbsError after the last completion was taken, if no more can arrive: EOVERFLOW, the queue overran; ENODEV, the device is
   * gone. The driver detects both while a caller waits, or when a verb queries the device
   */
  poll(completions: readonly Completion[]): number {
    this.requireOpen('pollCompletionQueue');
    if (!Array.isArray(completions)) {
      throw wrongType('completions', 'an array of Completion objects', completions);
    }
    return this.driver.poll(completions);
  }

  /**
   * Polls until there is a completion, as {@link poll} does, and uses the processor meanwhile: for a program that has just posted and waits
   * for the shortest time. If the device works on its own (own progress, a served board, PCIe), the first look is put off until most
   * completions have come, by a delay that follows them: a look takes the cache line away from the device that is about to write it.
   * @returns the number of objects filled in; 0: `timeout` is up, and {@link wait} takes over without using the processor
   * @throws as {@link poll}; TypeError, RangeError: timeout
   */
  pollPaced(completions: readonly Completion[], options: PacedPollOptions = {}): number {
    this.requireOpen('pollCompletionQueue');
    if (!Array.isArray(completions)) {
      throw wrongType('completions', 'an array of Completion objects', completions);
    }
    this.paced ??= new PacedPoll(this.context.isDrivenByPolling);
    return this.paced.run(this.driver, completions, options);
  }

  /**
   * Waits without using the processor until a completion may be available, or returns at once if one is. Take it with {@link poll}: another
   * waiter may have taken it first.
   * @throws the signal's reason; DOMException TimeoutError; neither loses a completion. VerbsError as {@link poll}; TypeError, RangeError:
   * invalid options
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

  /** Yields completions as they arrive, each in a new object, without end. @throws as {@link wait} */
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

  /** No more completions arrive: waiters take the remaining ones or get the error. */
  private wakeAll(): void {
    for (const waiters of [this.any, this.solicited]) {
      if (this.driver.hasCompletion) waiters.wake();
      else waiters.abandon(this.driver.failure);
    }
  }

  /**
   * The expected event, or the request for it, may have been lost. Notifies the waiters if a completion is in the queue, else arms the
   * queue again.
   */
  private ask(): void {
    if (this.any.count === 0 && this.solicited.count === 0) return;
    if (this.any.count > 0 && this.driver.hasCompletion) this.any.wake();
    else this.driver.arm(this.any.count === 0);
  }

  /** The requested event has arrived. Another poll may have taken its completion since. */
  private onEvent(): void {
    this.solicited.wake();
    if (this.driver.hasCompletion) this.any.wake();
    else if (this.any.count > 0) this.driver.arm();
  }
}
