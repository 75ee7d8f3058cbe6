import type { WaitOptions } from '../index.ts';

/** Longest delay of a timer, milliseconds: 24 days. A longer timeout never expires. */
const longestTimer = 2 ** 31 - 1;

/**
 * Returns the result of `done` unless the wait is aborted first; `done` then continues, and its result is dropped.
 * @throws the signal's reason; DOMException TimeoutError after `timeout` milliseconds; the error of `done`
 */
export async function unlessGivenUp<Result>(
  done: Promise<Result>,
  { signal, timeout = Infinity }: WaitOptions,
): Promise<Result> {
  let abort: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', abort, { once: true });
    if (timeout > longestTimer) return;
    timer = setTimeout(
      () => reject(new DOMException(`not done within ${timeout} ms`, 'TimeoutError')),
      timeout,
    );
  });
  try {
    return await Promise.race([done, givenUp]);
  } finally {
    signal?.removeEventListener('abort', abort!);
    clearTimeout(timer);
  }
}
