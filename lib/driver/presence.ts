import type { VerbsError } from './errors.ts';

/** Whether a device is there. Whoever finds that it is not tells here, and those who wait for it hear of it, once. */
export class Presence {
  private reason: VerbsError | undefined;
  private readonly hearers: ((reason: VerbsError) => void)[] = [];

  /** Why the device is gone; undefined: nobody has found it gone. */
  get loss(): VerbsError | undefined {
    return this.reason;
  }

  /** Calls `hear` when the device is found gone. */
  listen(hear: (reason: VerbsError) => void): void {
    this.hearers.push(hear);
  }

  /** The device is gone. It stays so until it is opened anew. */
  lose(reason: VerbsError): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    for (const hear of this.hearers) hear(reason);
  }
}
