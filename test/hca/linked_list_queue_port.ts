import { loadTestAddon } from '../helpers/test_addon.ts';
import type { LinkedListQueueModel, PushResult, ReadResult, Shape } from './linked_list_queue_model.ts';

/** native/test/linked_list_queue_port.cpp */
export interface LinkedListQueuePort {
  setMaximum(list: number, units: number): void;
  setEntryCredits(underlyingFunction: number, credits: number): void;
  setSharedEntryCredits(credits: number, cap: number): void;
  find(index: number): number | null;
  /** `unit` is a 128-bit number. */
  push(index: number, unit: bigint, underlyingFunction: number): PushResult;
  markReady(entry: number): string;
  markNotReady(entry: number): string;
  arbitrate(outboundCredits: number): number | null;
  pop(list: number): ReadResult;
  peek(list: number): ReadResult;
  resetPeekPointer(list: number): string;
  reclaim(list: number): string;
  reclaimStep(): ReadResult;
  scrubStep(): { status: string; entry: number };
  /** Bits 0 to 63 are data and 64 to 71 check bits of word 0, 72 to 143 those of word 1. */
  injectError(entry: number, bit: number): void;
  state(): unknown;
  counters(): LinkedListQueueModel['counters'];
  /** The contradiction in its state, or null. */
  verify(): string | null;
}

const addon = loadTestAddon() as { LinkedListQueuePort: new (shape: Shape) => LinkedListQueuePort };

/** An empty queue of that shape. */
export function makeLinkedListQueue(shape: Shape): LinkedListQueuePort {
  return new addon.LinkedListQueuePort(shape);
}
