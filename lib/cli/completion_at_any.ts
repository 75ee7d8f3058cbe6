import type { CompletionQueue, CompletionWaitOptions } from '../index.ts';

/**
 * Sleeps until one of several queues may have a completion.
 * @throws as CompletionQueue.wait
 */
export async function completionAtAny(
  queues: readonly CompletionQueue[],
  { signal, ...options }: CompletionWaitOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const waits = queues.map((queue) => queue.wait({ ...options, signal: either }));
  await Promise.race(waits).finally(() => stop.abort());
  await Promise.allSettled(waits);
}
