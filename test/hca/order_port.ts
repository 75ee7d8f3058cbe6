import type { HcaOptions } from '../helpers/hca_port.ts';
import type { HostMethods } from '../helpers/hosted_port.ts';
import { loadTestAddon } from '../helpers/test_addon.ts';

/** A block that order_port steps. */
export const Block = { virtualKick: 0, queuePairFetch: 1, sendQueueScheduler: 2, pipelineSink: 3 } as const;
export type Block = (typeof Block)[keyof typeof Block];

/** Parameters of the model; each has a default. */
export type OrderOptions = Omit<HcaOptions, 'completionQueues' | 'scoreboardVariant'>;

/** Options of a queue pair. Page addresses are DMA addresses of pages of 4 KiB. */
export interface QueuePairOptions {
  underlyingFunction: number;
  level: number;
  state: number;
  sendQueueLog2: number;
  sendQueuePages: bigint[];
  sendEntryPages: bigint[];
  sendEntryBytes: number;
  checksumSecret: number;
}

/** Commands on the list of a lane, its free own credits, and the shared ones that it holds. */
export interface LaneState {
  commands: number;
  executionCredits: number;
  completionCredits: number;
  sharedExecutionCredits: number;
  sharedCompletionCredits: number;
}

/** Counters of a function. */
export interface OrderCounters {
  kicks: number;
  sendQueueModeKicks: number;
  scheduledKicks: number;
  commandsRefused: number;
  commandsStale: number;
  commandsHandedBack: number;
  checksumMismatches: number;
  commandsSent: number;
  commandsFailed: number;
  dmaFaults: number;
}

/** The blocks from the VCBs to the end of the pipeline, each stepped on its own, on a flat host memory. */
export interface OrderPort extends HostMethods {
  createQueuePair(options: QueuePairOptions): number;
  setState(underlyingFunction: number, queuePairNumber: number, state: number): void;
  /** State, or null if the queue pair no longer exists. */
  state(underlyingFunction: number, queuePairNumber: number): number | null;
  /** Bytes of its queue_pair_requester. */
  requester(underlyingFunction: number, queuePairNumber: number): Uint8Array;
  setPosition(underlyingFunction: number, queuePairNumber: number, sequenceNumber: number): void;
  /** Returns false without a credit. */
  resume(underlyingFunction: number, queuePairNumber: number): boolean;
  quiesce(underlyingFunction: number, queuePairNumber: number): void;
  /** Destroys a queue pair that has become quiet. */
  takeQuiet(): number | null;
  pins(queuePairNumber: number): number;
  resetFunction(underlyingFunction: number): void;

  canAcceptWrite(): boolean;
  write(buffer: number, offset: number, bytes: Uint8Array): void;
  step(block: Block): boolean;
  isAwake(): boolean;
  /** kick_units that the pipeline took, in order. */
  takeExecutions(): Uint8Array[];
  takeEvents(): Uint8Array[];

  setQueuingStructure(underlyingFunction: number, level: number, address: bigint, entriesLog2: number): void;
  setLanes(underlyingFunction: number, level: number, lanes: bigint): boolean;
  setSharedLanes(lanes: bigint): boolean;
  setEntryCredits(underlyingFunction: number, credits: number): void;
  laneState(lane: number): LaneState;
  counters(underlyingFunction: number): OrderCounters;
  /** The contradiction in its state, or null. */
  verify(): string | null;
}

interface OrderAddon {
  OrderPort: new (options: OrderOptions) => OrderPort;
}

/** Creates the blocks on `memoryBytes` of host memory, whose end is context memory. */
export function makeOrderPort(options: OrderOptions): OrderPort {
  return new (loadTestAddon() as OrderAddon).OrderPort(options);
}
