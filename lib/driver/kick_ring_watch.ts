import type { DeviceFunction } from './device_function.ts';
import { KickRecord, KickRecordRing } from './kick_records.ts';
import { KickJoiner, type Kick } from './kicks.ts';

/** log2 of the records that the device keeps for a watch that does not look: 1 MiB. */
const usualEntriesLog2 = 14;
const recordsAtOnce = 4096;

/**
 * Kicks by the kick records of an open function, on any backend: those of the function, and of all functions where it is the control
 * function. The device never waits for the watch: when the ring is full, it drops records and counts them.
 */
export class KickRingWatch {
  private readonly device: DeviceFunction;
  private readonly ring: KickRecordRing;
  private readonly records = Array.from({ length: recordsAtOnce }, () => new KickRecord());
  private joiner = new KickJoiner();
  private dropped = 0;

  /**
   * Watches from now on. The function has no other ring of kick records.
   * @param entriesLog2 records that the device keeps, up to 16
   * @throws VerbsError ENOMEM: no memory for the ring
   */
  constructor(device: DeviceFunction, entriesLog2 = usualEntriesLog2) {
    this.device = device;
    this.ring = new KickRecordRing(device, entriesLog2, device.controlPage !== undefined);
  }

  /** Records, two of a kick, that found the ring full; it grows when a later record tells of them. */
  get lost(): number {
    return this.dropped;
  }

  /** Kicks that are complete, oldest first; none: there is nothing yet. @throws VerbsError ENODEV: the device is gone */
  take(): Kick[] {
    const { reason } = this.device.loss;
    if (reason !== undefined) throw reason;
    const kicks: Kick[] = [];
    const count = this.ring.poll(this.records);
    for (const record of this.records.slice(0, count)) {
      if (record.dropped !== this.dropped) {
        this.dropped = record.dropped;
        this.joiner = new KickJoiner(); // what would join may be lost
      }
      kicks.push(...this.joiner.take(record));
    }
    return kicks;
  }

  /** Stops the records, unless the device is gone. */
  close(): void {
    if (!this.device.closed) this.ring.close();
  }
}
