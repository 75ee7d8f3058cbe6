import type { Interrupt } from '../board/addon.ts';
import type { CompletionQueue } from './completion_queue.ts';
import type { DeviceWatch } from './device_watch.ts';
import { EventQueue } from './event_queue.ts';
import type { HcaDriver } from './hca_driver.ts';
import { PolledInterrupt } from './polled_interrupt.ts';

interface Listener {
  readonly queue: CompletionQueue;
  readonly onEvent: () => void;
  readonly ask: () => void;
}

/**
 * Delivers the events of a function to the event loop while a caller waits. All completion queues share one event queue; an armed queue
 * raises one event, so the event queue has room for all. Asynchronous events report queues that failed.
 */
export class CompletionEvents {
  /** Number of the event queue. */
  readonly eventQueue = 1;
  private readonly events: EventQueue;
  private readonly asynchronous: EventQueue;
  private readonly interrupts: { readonly completions: Interrupt; readonly asynchronous: Interrupt };
  private readonly watch: DeviceWatch;
  private readonly listeners = new Map<number, Listener>();
  private holders = 0;
  private asynchronousArmed = false;

  constructor({ device, management, limits, events, watch }: HcaDriver) {
    this.asynchronous = events;
    this.watch = watch;
    const entriesLog2 = Math.ceil(Math.log2(limits.completionQueues + 1));
    this.events = new EventQueue(device, management, this.eventQueue, entriesLog2);
    const { board } = device;
    this.interrupts =
      board.facts().interruptVectors === 0
        ? {
            completions: new PolledInterrupt(() => {
              this.deliver();
              this.asynchronous.collect();
            }),
            asynchronous: new PolledInterrupt(() => undefined), // the other one looks for it
          }
        : {
            completions: board.interrupt(this.eventQueue, () => this.deliver()),
            asynchronous: board.interrupt(events.number, () => this.deliverAsynchronous()),
          };
    this.events.arm();
    watch.afterHeldLook = () => this.look();
  }

  /**
   * Calls `onEvent` from the event loop after each event of a completion queue, once for each time it was armed. Also calls `ask`
   * periodically while a caller waits, because an event, or the request for it, may be lost.
   */
  listen(queue: CompletionQueue, onEvent: () => void, ask: () => void): void {
    this.listeners.set(queue.number, { queue, onEvent, ask });
  }

  /** Removes a destroyed completion queue. */
  forget(queue: CompletionQueue): void {
    this.listeners.delete(queue.number);
  }

  /** Keeps the process alive for a waiting caller, until {@link release} has been called as often. */
  hold(): void {
    this.watch.hold();
    this.holders += 1;
    if (this.holders > 1) return;
    this.interrupts.completions.ref();
    this.armAsynchronous();
  }

  release(): void {
    this.watch.release();
    this.holders -= 1;
    if (this.holders === 0) this.interrupts.completions.unref();
  }

  private armAsynchronous(): void {
    if (this.asynchronousArmed) return;
    this.asynchronousArmed = true;
    this.asynchronous.arm();
  }

  private deliverAsynchronous(): void {
    this.asynchronous.collect();
    this.asynchronousArmed = false;
    if (this.holders > 0) this.armAsynchronous();
  }

  private look(): void {
    this.deliver();
    for (const { ask } of this.listeners.values()) ask();
  }

  private deliver(): void {
    for (let event = this.events.poll(); event !== undefined; event = this.events.poll()) {
      const listener = this.listeners.get(event.object);
      listener?.queue.eventTaken();
      listener?.onEvent();
    }
    this.events.arm();
  }
}
