import type { DmaMemory } from '../board/addon.ts';
import { UNDERLYING_FUNCTION_RECEIVE_DOORBELL_OFFSET } from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { ReceiveArea, type ReceiveQueueSizes } from './receive_area.ts';
import { ReceivePoster } from './receive_poster.ts';
import type { WorkRequestIdHolder } from './work_request_ids.ts';

/** The receive queue of a queue pair in host memory. Sequence numbers are 16 bits, free-running. */
export class ReceiveQueue extends ReceivePoster {
  readonly area: ReceiveArea;
  private readonly device: DeviceFunction;
  private completed = -1;

  /** @throws VerbsError EINVAL: a size beyond what the device has */
  constructor(device: DeviceFunction, sizes: ReceiveQueueSizes) {
    super();
    this.device = device;
    const names = ['maxReceiveWorkRequests', 'maxScatterEntries'] as const;
    this.area = new ReceiveArea(device, sizes, { verb: 'createQueuePair', names });
  }

  /** log2 of the entries. */
  get entriesLog2(): number {
    return this.area.entriesLog2;
  }

  /** Circular buffer of references. */
  get references(): DmaMemory {
    return this.area.references;
  }

  /** Receive entries. */
  get entryArea(): DmaMemory {
    return this.area.entryArea;
  }

  /** The tail record. */
  get tail(): DmaMemory {
    return this.area.tail;
  }

  /** Most entries of a scatter list. */
  get scatterEntries(): number {
    return this.area.scatterEntries;
  }

  /** Work requests that it takes. */
  get capacity(): number {
    return this.area.entries;
  }

  /** Work requests that are posted and not completed. */
  get outstanding(): number {
    return (this.next - this.completed - 1) & 0xffff;
  }

  /** Sequence number of the next work request. */
  get nextSequenceNumber(): number {
    return this.next;
  }

  /**
   * A completion named this sequence number: it and all before it are completed, and their slots free.
   * @param holder gets the wrId of the request, where it is wanted
   */
  completedThrough(sequenceNumber: number, holder?: WorkRequestIdHolder): void {
    if (holder !== undefined) this.area.wrIds.get(sequenceNumber & (this.area.entries - 1), holder);
    this.completed = sequenceNumber;
  }

  /** Tells the device of what is posted: needed only where it does not look for itself, in the error state and for end-to-end credits. One crossing. */
  doorbell(queuePairNumber: number): void {
    this.device.page.writeHalves(UNDERLYING_FUNCTION_RECEIVE_DOORBELL_OFFSET, queuePairNumber, this.next);
  }

  /** The queue is empty and begins with sequence number 0 again: its queue pair was reset. */
  reset(): void {
    this.next = 0;
    this.completed = -1;
    this.area.storeTail(0);
  }

  /** The device does not reach it any more. */
  free(): void {
    this.area.free();
  }

  protected override nextPlace(): number {
    if (this.outstanding >= this.area.entries) throw this.area.full();
    return this.next & (this.area.entries - 1);
  }

  protected override taken(): void {
    this.next = (this.next + 1) & 0xffff;
  }
}
