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

/** A page of the prefetchable BAR that a command is written to. */
export class VirtualCollectBuffer {
  readonly number: number;
  /** Begin of its page, bytes from the begin of its BAR. */
  readonly offset: number;
  private readonly device: DeviceFunction;

  constructor(device: DeviceFunction, number: number) {
    this.device = device;
    this.number = number;
    const { offset, pageStride } = device.virtualCollectBufferRegion;
    this.offset = offset + number * pageStride;
  }

  /** Doorbell: work requests of a queue pair up to a sequence number lie in its send queue. */
  start(queuePairNumber: number, sequenceNumber: number): void {
    this.writeSlot(DoorbellSlot.start, queuePairNumber, sequenceNumber);
  }

  /** Doorbell: nothing more is fetched from the send queue of a queue pair until the next start. */
  stop(queuePairNumber: number): void {
    this.writeSlot(DoorbellSlot.stop, queuePairNumber, 0);
  }

  /** Gives up the command that was begun here, or the error of one that was refused; the buffer is free again. */
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
 * The virtual collect buffers of a function. Queue pairs of one thread may share one, as a buffer is free again when its
 * command is written and fenced; they take turns so that the writes of one do not wait for the drain of another.
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

  /** All of the function. */
  get all(): readonly VirtualCollectBuffer[] {
    return this.buffers;
  }

  /** Reads which ones the function has, and how they are divided among its levels: the control function may have changed both. */
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

  /** Whether a buffer is one of those that {@link take} gives for a level. */
  serves(level: QualityOfServiceLevel, buffer: VirtualCollectBuffer): boolean {
    return this.byLevel[level]!.includes(buffer);
  }

  /**
   * A buffer for commands of a level: of the level's own, where it has some, so that its own physical collect buffers serve it
   * (US8484392, sub-BAR); else of those that the levels share.
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
