import { loadTestAddon } from '../helpers/test_addon.ts';
import type { HostMethods } from '../helpers/hosted_port.ts';

/** Parameters of the model, and the size of its host memory. */
export interface ResourceManagerOptions {
  memoryBytes: number;
  queuePairs?: number;
  completionQueues?: number;
  pageTableEntries?: number;
  memoryKeys?: number;
  queuePairContextsCached?: number;
  ports?: number;
}

/** The reason why a queue pair is not found: Absence of queue_pair_state_cache. */
export const Absence = {
  none: 0,
  unknown: 1,
  wrongGeneration: 2,
  otherFunction: 3,
  contextMemoryFault: 4,
} as const;

/** The reason why an access with a key is refused: AccessFault of memory_translation. */
export const AccessFault = {
  none: 0,
  unknownKey: 1,
  otherDomain: 2,
  missingRight: 3,
  outOfBounds: 4,
  unreachable: 5,
} as const;

/** An access to memory of a key: KeyAccess of memory_translation. */
export interface KeyAccess {
  underlyingFunction: number;
  protectionDomain: number;
  key: number;
  address: bigint;
  length: bigint;
  /** One bit for each AccessFlag. */
  rights: number;
  begun?: boolean;
}

/** Result of find(): the parts of the context as bytes, if the absence is none. */
export interface FoundQueuePair {
  absence: number;
  control?: Uint8Array;
  requester?: Uint8Array;
  responder?: Uint8Array;
}

/** native/test/resource_manager_port.cpp */
export interface ResourceManagerPort extends HostMethods {
  contextMemoryNeeded(): number;
  openContextMemory(address: bigint, bytes: number): boolean;
  setEnabled(enabled: boolean): void;

  createTable(underlyingFunction: number, pages: number): number | null;
  writeEntries(table: number, first: number, entries: Uint8Array): boolean;
  destroyTable(table: number): void;
  translate(table: number, offset: bigint): bigint | null;
  longestTable(): number;
  entriesFree(): number;

  /** The answer of MemoryTranslation::check. */
  checkAccess(access: KeyAccess): number;
  /** Caches an access that is permitted, as a DMA does. */
  remember(access: KeyAccess): void;
  /** The DMA address of an access, from that cache. */
  findGranted(access: KeyAccess): bigint | null;
  locate(underlyingFunction: number, key: number, address: bigint): { address: bigint; bytes: bigint } | null;
  beginAccess(key: number): void;
  endAccess(key: number): void;
  keysFree(): number;

  find(underlyingFunction: number, queuePairNumber: number): FoundQueuePair;
  setRequester(underlyingFunction: number, queuePairNumber: number, requester: Uint8Array): boolean;
  setState(underlyingFunction: number, queuePairNumber: number, state: number): boolean;
  pin(queuePairNumber: number): boolean;
  unpin(queuePairNumber: number): void;
  pins(queuePairNumber: number): number;
  enterError(underlyingFunction: number, queuePairNumber: number): boolean;
  queuePairsFree(): number;

  beginManagement(
    underlyingFunction: number,
    entriesLog2: number,
    sendQueue: bigint,
    completionQueue: bigint,
  ): boolean;
  doorbell(underlyingFunction: number, tail: number): void;
  lockManagement(underlyingFunction: number): number | null;
  writeManagementPage(underlyingFunction: number, offset: number, bytes: Uint8Array): void;
  canAcceptWrite(): boolean;

  /** Lets resource_manager work if it is awake; false: it sleeps. */
  step(): boolean;
  isAwake(): boolean;
  /** Like those of HcaPort. */
  push(link: string, unit: Uint8Array): void;
  pop(link: string): Uint8Array | null;
  credits(link: string): number;
  /** completion_queue: an entry of zeros. */
  writeCompletion(underlyingFunction: number, completionQueue: number): boolean;
  resetFunction(underlyingFunction: number): void;
  counters(underlyingFunction: number): {
    commandsRefused: number;
    commandsStale: number;
    dmaFaults: number;
    cacheHits: number;
    cacheMisses: number;
  };
  /** The contradiction in its state, or null. */
  verify(): string | null;
}

const addon = loadTestAddon() as {
  ResourceManagerPort: new (options: ResourceManagerOptions) => ResourceManagerPort;
};

/** A resource manager and the blocks that hold its objects. */
export function makeResourceManager(options: ResourceManagerOptions): ResourceManagerPort {
  return new addon.ResourceManagerPort(options);
}
