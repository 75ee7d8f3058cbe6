import {
  DOORBELL_SLOTS_OFFSET,
  DoorbellSlot,
  DOORBELL_SLOT_WRITE_BYTES,
  QualityOfServiceLevel,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_BASE_MASK,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_BASE_SHIFT,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_COUNT_MASK,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_COUNT_SHIFT,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_OFFSET,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_HIGH_MASK,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_HIGH_SHIFT,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_LOW_MASK,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_LOW_SHIFT,
  UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_OFFSET,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { VerbsError } from './errors.ts';

/** A page of the prefetchable BAR to which commands are written. */
export class VirtualCollectBuffer {
  readonly number: number;
  /** Offset of its page in its BAR, bytes. */
  readonly offset: number;
  private readonly device: DeviceFunction;

  constructor(device: DeviceFunction, number: number) {
    this.device = device;
    this.number = number;
    const { offset, pageStride } = device.virtualCollectBufferRegion;
    this.offset = offset + number * pageStride;
  }

  /** Doorbell: announces the work requests of a queue pair up to a sequence number in its send queue. */
  start(queuePairNumber: number, sequenceNumber: number): void {
    this.writeSlot(DoorbellSlot.start, queuePairNumber, sequenceNumber);
  }

  /** Doorbell: stops fetching from the send queue of a queue pair until the next start. */
  stop(queuePairNumber: number): void {
    this.writeSlot(DoorbellSlot.stop, queuePairNumber, 0);
  }

  /** Cancels the half-written command of this buffer, or the error of a refused one; the buffer is free again. */
  cancel(): void {
    this.writeSlot(DoorbellSlot.cancel, 0, 0);
  }

  private writeSlot(slot: DoorbellSlot, queuePairNumber: number, sequenceNumber: number): void {
    const { board, virtualCollectBufferRegion } = this.device;
    const at = this.offset + DOORBELL_SLOTS_OFFSET + slot * DOORBELL_SLOT_WRITE_BYTES;
    board.write64(virtualCollectBufferRegion.bar, at, queuePairNumber, sequenceNumber);
    board.fence();
  }
}

/**
 * The virtual collect buffers of a function. Queue pairs of one thread may share a buffer, because it is free again when its command is
 * written and flushed. They use the buffers in turn, so that the writes of one do not wait for the flush of another.
 */
export class VirtualCollectBuffers {
  private readonly device: DeviceFunction;
  private buffers: readonly VirtualCollectBuffer[] = [];
  private byLevel: readonly (readonly VirtualCollectBuffer[])[] = [];
  private readonly turns = [0, 0];

  constructor(device: DeviceFunction) {
    this.device = device;
    this.refresh();
  }

  /** All buffers of the function. */
  get all(): readonly VirtualCollectBuffer[] {
    return this.buffers;
  }

  /** Reads the function's buffers and their division among its levels: the control function may have changed both. */
  refresh(): void {
    const { device } = this;
    const bar = device.page.read32(UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_OFFSET);
    const base =
      (bar >>> UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_BASE_SHIFT) &
      UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_BASE_MASK;
    const count =
      (bar >>> UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_COUNT_SHIFT) &
      UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_BAR_COUNT_MASK;
    const subBar = device.page.read32(UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_OFFSET);
    const low =
      (subBar >>> UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_LOW_SHIFT) &
      UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_LOW_MASK;
    const high =
      (subBar >>> UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_HIGH_SHIFT) &
      UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_SUB_BAR_HIGH_MASK;
    const known = new Map(this.buffers.map((buffer) => [buffer.number, buffer]));
    this.buffers = Array.from(
      { length: count },
      (_, index) => known.get(base + index) ?? new VirtualCollectBuffer(device, base + index),
    );
    const shared = this.buffers.slice(low, high);
    const ownOrShared = (own: VirtualCollectBuffer[]): VirtualCollectBuffer[] =>
      own.length > 0 ? own : shared;
    this.byLevel = [ownOrShared(this.buffers.slice(0, low)), ownOrShared(this.buffers.slice(high))];
  }

  /** Whether there is a buffer for a level. */
  has(level: QualityOfServiceLevel): boolean {
    return this.byLevel[level]!.length > 0;
  }

  /** Whether {@link take} could return this buffer for a level. */
  serves(level: QualityOfServiceLevel, buffer: VirtualCollectBuffer): boolean {
    return this.byLevel[level]!.includes(buffer);
  }

  /**
   * Returns a buffer for commands of a level: one of the level's own if it has any, so that the level's own physical collect buffers serve
   * it (US8484392, sub-BAR); otherwise one that the levels share.
   * @throws VerbsError ENOMEM: the function has none for this level
   */
  take(level: QualityOfServiceLevel): VirtualCollectBuffer {
    const buffers = this.byLevel[level]!;
    const turn = this.turns[level]! % Math.max(1, buffers.length);
    this.turns[level] = (turn + 1) % Math.max(1, buffers.length);
    const buffer = buffers[turn];
    if (buffer !== undefined) return buffer;
    throw new VerbsError('the function has no virtual collect buffer for this level', {
      code: 'ENOMEM',
      verb: 'createQueuePair',
      attribute: 'virtual_collect_buffers',
      expected: 'a larger range or another division, given by the control function',
    });
  }
}
