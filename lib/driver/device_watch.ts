import type { DeviceFunction } from './device_function.ts';
import { requireKnown } from './function_status.ts';

/** Milliseconds between two looks. */
const period = 1000;

/**
 * Looks, while a caller waits, whether the device is still there: one that is gone gives no interrupt. While something is posted and
 * not completed it looks for events and queues that stand still only, which takes no read of the device. It keeps no process and no device alive, and ends when
 * there has been neither for a while.
 */
export class DeviceWatch {
  private readonly device: DeviceFunction;
  private holders = 0;
  /** Called after each look that found the device there. */
  afterLook: (() => void) | undefined;
  /** Called then while a caller waits. */
  afterHeldLook: (() => void) | undefined;
  /** Whether something is posted and not completed. */
  isBusy: (() => boolean) | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(device: DeviceFunction) {
    this.device = device;
  }

  /** A caller waits, until {@link release} is called as often. */
  hold(): void {
    this.holders += 1;
    this.timer ??= this.start();
  }

  release(): void {
    this.holders -= 1;
  }

  /** Something was posted. */
  posted(): void {
    this.timer ??= this.start();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private start(): NodeJS.Timeout {
    const self = new WeakRef(this);
    const timer = setInterval(() => {
      const watch = self.deref();
      if (watch === undefined) clearInterval(timer);
      else watch.look();
    }, period);
    return timer.unref();
  }

  private look(): void {
    const { loss, closed } = this.device;
    const isThere = !closed && loss.reason === undefined;
    if (isThere && this.holders > 0) {
      try {
        requireKnown(this.device);
        this.afterLook?.();
        this.afterHeldLook?.();
      } catch (error) {
        if (loss.reason === undefined) throw error;
      }
    } else if (isThere && this.isBusy?.() === true) {
      this.afterLook?.();
    } else {
      this.stop();
    }
  }
}
