import { VerbsError } from '../driver/errors.ts';
import type { CompletionQueue, CompletionWaitOptions } from './completion_queue.ts';
import type { Context } from './context.ts';
import { VerbsObject } from './verbs_object.ts';

/** Lets a caller wait for several completion queues at once. */
export class CompletionChannel extends VerbsObject {
  readonly label = 'completion channel';
  /** The context that created it. */
  readonly context: Context;
  /** The queue returned last moves to the end. */
  private readonly queues = new Set<CompletionQueue>();

  /** {@link Context.createCompletionChannel} makes completion channels. */
  constructor(context: Context) {
    super([context]);
    this.context = context;
  }

  /** Adds a completion queue that was created for this channel. The queue removes itself when it is closed. */
  add(queue: CompletionQueue): void {
    this.queues.add(queue);
  }

  /** Removes a completion queue that is closed. */
  remove(queue: CompletionQueue): void {
    this.queues.delete(queue);
  }

  /**
   * Waits until one of the channel's current queues may have a completion, and returns that queue. Queues with completions take turns. It
   * also returns a queue that failed; the queue's poll throws the reason.
   * @throws as {@link CompletionQueue.wait}; VerbsError EINVAL: the channel has no queue
   */
  async wait({ signal, ...options }: CompletionWaitOptions = {}): Promise<CompletionQueue> {
    this.requireOpen('waitForCompletion');
    if (this.queues.size === 0) throw noQueue();
    const others = new AbortController();
    const signals = signal === undefined ? [others.signal] : [signal, others.signal];
    const waits = [...this.queues].map(async (queue) => {
      try {
        await queue.wait({ ...options, signal: AbortSignal.any(signals) });
      } catch (error) {
        if (queue.driver.failure === undefined) throw error;
      }
      return queue;
    });
    try {
      const queue = await Promise.race(waits);
      if (this.queues.delete(queue)) this.queues.add(queue);
      return queue;
    } finally {
      others.abort();
    }
  }

  /** The queues are already closed, and their waiters notified. */
  protected destroy(): void {}
}

function noQueue(): VerbsError {
  return new VerbsError('the completion channel has no completion queue', {
    code: 'EINVAL',
    verb: 'waitForCompletion',
    attribute: 'channel',
    expected: 'createCompletionQueue({ channel }) before',
  });
}
