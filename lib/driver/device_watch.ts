import type { DeviceFunction } from './device_function.ts';
import { requireKnown } from './function_status.ts';

/** Milliseconds between two checks. */
const period = 1000;

/**
 * Checks, while a caller waits, whether the device is still there, because a device that is gone raises no interrupt. While work is
 * outstanding, it only checks for events and stalled queues, without a read of the device. It keeps neither process nor device alive, and
 * stops some time after both conditions have ended.
 */
export class DeviceWatch {
  private readonly device: DeviceFunction;
  private holders = 0;
  /** Called after each check that found the device present. */
  afterLook: (() => void) | undefined;
  /** Called then if a caller waits. */
  afterHeldLook: (() => void) | undefined;
  /** Whether work is outstanding. */
  isBusy: (() => boolean) | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(device: DeviceFunction) {
    this.device = device;
  }

  /** A caller waits, until {@link release} has been called as often. */
  hold(): void {
    this.holders += 1;
    this.timer ??= this.start();
  }

  release(): void {
    this.holders -= 1;
  }

  /** Work was posted. */
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
