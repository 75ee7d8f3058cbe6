import type { Interrupt } from '../board/addon.ts';
import type { CompletionQueue } from './completion_queue.ts';
import { EventQueue } from './event_queue.ts';
import type { HcaDriver } from './hca_driver.ts';

interface Listener {
  readonly queue: CompletionQueue;
  readonly hear: () => void;
}

/**
 * The completion events of a function: one event queue for all its completion queues, and its interrupt in the event loop. A
 * completion queue that is armed gives one event, so that the event queue has room for all.
 */
export class CompletionEvents {
  /** Number of the event queue. */
  readonly eventQueue = 1;
  private readonly events: EventQueue;
  private readonly interrupt: Interrupt;
  private readonly listeners = new Map<number, Listener>();
  private holders = 0;

  constructor({ device, management, limits }: HcaDriver) {
    const entriesLog2 = Math.ceil(Math.log2(limits.completionQueues + 1));
    this.events = new EventQueue(device, management, this.eventQueue, entriesLog2);
    this.interrupt = device.board.interrupt(this.eventQueue, () => this.deliver());
    this.events.arm();
  }

  /** Calls `hear` from the event loop after each event of a completion queue, one at a time for each time it was armed. */
  listen(queue: CompletionQueue, hear: () => void): void {
    this.listeners.set(queue.number, { queue, hear });
  }

  /** The completion queue is gone. */
  forget(queue: CompletionQueue): void {
    this.listeners.delete(queue.number);
  }

  /** Somebody waits: the process stays alive until {@link release} is called as often. */
  hold(): void {
    this.holders += 1;
    if (this.holders === 1) this.interrupt.ref();
  }

  release(): void {
    this.holders -= 1;
    if (this.holders === 0) this.interrupt.unref();
  }

  private deliver(): void {
    for (let event = this.events.poll(); event !== undefined; event = this.events.poll()) {
      const listener = this.listeners.get(event.object);
      listener?.queue.eventTaken();
      listener?.hear();
    }
    this.events.arm();
  }
}
