import type { VerbsError } from './errors.ts';

/** Whether a device is gone. The first access that finds it gone reports it here, and each listener is called once. */
export class DeviceLoss {
  private lossReason: VerbsError | undefined;
  private readonly listeners: ((reason: VerbsError) => void)[] = [];

  /** Why the device is gone; undefined: as far as is known it is there. */
  get reason(): VerbsError | undefined {
    return this.lossReason;
  }

  /** Calls `listener` when the device is found gone. */
  listen(listener: (reason: VerbsError) => void): void {
    this.listeners.push(listener);
  }

  /** The device is gone. It stays so until it is opened anew. */
  report(reason: VerbsError): void {
    if (this.lossReason !== undefined) return;
    this.lossReason = reason;
    for (const listener of this.listeners) listener(reason);
  }
}
