import type { DeviceFunction } from './device_function.ts';
import { requireEnabled } from './function_status.ts';

/** Milliseconds between two looks. */
const period = 1000;

/**
 * Looks, while somebody waits, whether the device is still there: one that is gone gives no interrupt. It keeps no process alive,
 * and ends when nobody has waited for a while.
 */
export class DeviceWatch {
  private readonly device: DeviceFunction;
  private holders = 0;
  /** Called after each look that found the device there. */
  afterLook: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(device: DeviceFunction) {
    this.device = device;
  }

  /** Somebody waits, until {@link release} is called as often. */
  hold(): void {
    this.holders += 1;
    this.timer ??= setInterval(() => this.look(), period).unref();
  }

  release(): void {
    this.holders -= 1;
  }

  private look(): void {
    const { presence, closed } = this.device;
    if (this.holders > 0 && !closed && presence.loss === undefined) {
      try {
        requireEnabled(this.device);
        this.afterLook?.();
      } catch (error) {
        if (presence.loss === undefined) throw error;
      }
      return;
    }
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
