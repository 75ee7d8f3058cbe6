import { VerbsError } from '../driver/errors.ts';
import type { CompletionQueue, CompletionWaitOptions } from './completion_queue.ts';
import type { Context } from './context.ts';
import { VerbsObject } from './verbs_object.ts';

/** Completion queues that are waited for together. */
export class CompletionChannel extends VerbsObject {
  readonly label = 'completion channel';
  /** Where it was made. */
  readonly context: Context;
  /** The one that was given last comes last. */
  private readonly queues = new Set<CompletionQueue>();

  /** {@link Context.createCompletionChannel} makes completion channels. */
  constructor(context: Context) {
    super([context]);
    this.context = context;
  }

  /** A completion queue was made for this channel; it tells when it is closed. */
  add(queue: CompletionQueue): void {
    this.queues.add(queue);
  }

  /** A completion queue of the channel is closed. */
  remove(queue: CompletionQueue): void {
    this.queues.delete(queue);
  }

  /**
   * Waits until one of the queues that the channel has now may have a completion, and gives it; those that have some take turns. One
   * that failed is given too: its poll says why.
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

  /** The queues are closed by now, and those who wait have learned of it. */
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
