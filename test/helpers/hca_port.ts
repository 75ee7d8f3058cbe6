import { loadTestAddon } from './test_addon.ts';
import type { HostMethods } from './hosted_port.ts';

/** Parameters of the model, and the size of its host memory. */
export interface HcaOptions {
  memoryBytes: number;
  underlyingFunctions?: number;
  virtualCollectBuffers?: number;
  physicalCollectBuffers?: number;
  dedicatedPhysicalCollectBuffers?: number;
  managementPhysicalCollectBuffers?: number;
  transmitVirtualLanes?: number;
  executionCreditsPerLane?: number;
  completionCreditsPerLane?: number;
  sharedExecutionCredits?: number;
  sharedCompletionCredits?: number;
  queuePairContextsCached?: number;
  schedulerBatch?: number;
  queuePairs?: number;
  completionQueues?: number;
  pageTableEntries?: number;
  memoryKeys?: number;
  scoreboardVariant?: number;
}

/** native/test/hca_port.cpp */
export interface HcaPort extends HostMethods {
  write(region: number, page: number, offset: number, bytes: Uint8Array, byteEnables?: bigint): void;
  read(region: number, page: number, offset: number): number;
  step(): boolean;
  canAcceptWrite(): boolean;
  nextDeadline(): bigint;
  reset(): void;
  resetFunction(underlyingFunction: number): void;
  /** The contradiction in its state, or null. */
  verify(): string | null;

  /** Pushes a data unit to a link, by its name in native/hca/base/wiring.h. RangeError: no such link, no credit, wrong length. */
  push(link: string, unit: Uint8Array): void;
  /** Pops the oldest data unit of a link; null: there is none. */
  pop(link: string): Uint8Array | null;
  /** Free credits of the link. */
  credits(link: string): number;
  /** Steps a block, awake or not; it then sleeps until it is woken. False: it had nothing to do. */
  stepBlock(block: string): boolean;
  /** Whether the block has been woken since its last step. */
  isAwake(block: string): boolean;
  /** Reports an event_unit, as a block does. */
  report(event: Uint8Array): void;
}

const addon = loadTestAddon() as { HcaPort: new (options: HcaOptions) => HcaPort };

/** Creates an HCA. RangeError: a parameter is out of range. */
export function makeHca(options: HcaOptions): HcaPort {
  return new addon.HcaPort(options);
}
