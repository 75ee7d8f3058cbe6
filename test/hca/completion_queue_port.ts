import { loadTestAddon } from '../helpers/test_addon.ts';
import type { ManagementStatus } from '../../lib/spec/index.ts';
import type { HostMethods } from '../helpers/hosted_port.ts';

/** native/test/completion_queue_port.cpp */
export interface CompletionQueuePort extends HostMethods {
  /** Returns its number, or null. */
  create(underlyingFunction: number, input: Uint8Array, pages: readonly bigint[]): number | null;
  /** Resizes to 2^entriesLog2 entries at other pages; returns the management_status. */
  resize(
    underlyingFunction: number,
    completionQueue: number,
    entriesLog2: number,
    pages: readonly bigint[],
  ): ManagementStatus;
  tail(completionQueue: number): number;
  moderate(completionQueue: number, count: number, period: number): void;
  /** The clock tick at which the block must step, or null. */
  nextDeadline(): bigint | null;
  destroy(completionQueue: number): void;
  exists(underlyingFunction: number, completionQueue: number): boolean;
  isInError(completionQueue: number): boolean;
  write(underlyingFunction: number, completionQueue: number, entry: Uint8Array): boolean;
  /** Like a write of the register completion_queue_arm. */
  arm(underlyingFunction: number, request: bigint): boolean;
  /** Creates a queue pair that is ready to send; returns its number. */
  createQueuePair(underlyingFunction: number, sendQueue: number, receiveQueue: number): number;
  state(underlyingFunction: number, queuePair: number): number | null;
  /** Lets the block work if it is awake or its deadline has arrived; false: it sleeps. */
  step(): boolean;
  /** The event units since the last call. */
  takeEvents(): Uint8Array[];
  resetFunction(underlyingFunction: number): void;
  /** The function's completions_dropped. */
  dropped(underlyingFunction: number): number;
  /** The contradiction in the block's state, or null. */
  verify(): string | null;
}

interface Options {
  memoryBytes: number;
  completionQueues: number;
  queuePairs: number;
  pageTableEntries: number;
  memoryKeys: number;
}

const addon = loadTestAddon() as { CompletionQueuePort: new (options: Options) => CompletionQueuePort };

/** A separate set of completion queues: 8 numbers, of which 0 stands for none. */
export function makeCompletionQueues(): CompletionQueuePort {
  return new addon.CompletionQueuePort({
    memoryBytes: 2 << 20,
    completionQueues: 8,
    queuePairs: 64,
    pageTableEntries: 2048,
    memoryKeys: 256,
  });
}
