import type { WaitOptions } from './polling_wait.ts';

/** Longest delay of a timer, milliseconds: 24 days. A longer timeout never expires. */
const longestTimer = 2 ** 31 - 1;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The callers that wait for the same event. */
export class Waiters {
  private readonly waiting = new Set<Waiter>();

  get count(): number {
    return this.waiting.size;
  }

  /** @throws the signal's reason; DOMException TimeoutError after `timeout` milliseconds */
  async wait({ signal, timeout = Infinity }: WaitOptions): Promise<void> {
    let waiter: Waiter | undefined;
    let timer: NodeJS.Timeout | undefined;
    const abort = (): void => waiter?.reject(signal?.reason);
    try {
      await new Promise<void>((resolve, reject) => {
        waiter = { resolve, reject };
        this.waiting.add(waiter);
        signal?.addEventListener('abort', abort, { once: true });
        if (timeout > longestTimer) return;
        timer = setTimeout(
          () => reject(new DOMException(`nothing came within ${timeout} ms`, 'TimeoutError')),
          timeout,
        );
      });
    } finally {
      this.waiting.delete(waiter!);
      signal?.removeEventListener('abort', abort);
      clearTimeout(timer);
    }
  }

  /** Wakes all waiters: the event has arrived. */
  wake(): void {
    for (const { resolve } of this.waiting) resolve();
  }

  /** Rejects all waiters: the event cannot arrive. */
  abandon(reason: unknown): void {
    for (const { reject } of this.waiting) reject(reason);
  }
}
