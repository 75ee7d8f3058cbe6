import type { VerbsError } from './errors.ts';

/** Whether a device is gone. The first access that detects the loss reports it here, and each listener is called once. */
export class DeviceLoss {
  private lossReason: VerbsError | undefined;
  private readonly listeners: ((reason: VerbsError) => void)[] = [];

  /** The reason of the loss; undefined: no loss is known. */
  get reason(): VerbsError | undefined {
    return this.lossReason;
  }

  /** Calls `listener` when the loss is detected. */
  listen(listener: (reason: VerbsError) => void): void {
    this.listeners.push(listener);
  }

  /** Reports the loss. It is final until the device is opened again. */
  report(reason: VerbsError): void {
    if (this.lossReason !== undefined) return;
    this.lossReason = reason;
    for (const listener of this.listeners) listener(reason);
  }
}
