import { loadTestAddon } from './test_addon.ts';
import type { HostMethods } from './hosted_port.ts';

/** Options of a queue pair; page addresses are DMA addresses of pages of 4 KiB, 0: not mapped. No pages: no receive queue. */
export interface QueuePairOptions {
  underlyingFunction: number;
  receiveQueueLog2: number;
  receiveQueuePages: readonly bigint[];
  receiveEntryPages: readonly bigint[];
  receiveEntryBytes: number;
  receiveTailAddress: bigint;
}

/** The location of a receive work request in the entry area. */
export interface Descriptor {
  sequenceNumber: number;
  offset: number;
  length: number;
}

/** A receive_unit, and the fields of its packet that receive queues use. */
export interface AcceptedUnit extends Descriptor {
  underlyingFunction: number;
  queuePairNumber: number;
  action: number;
  first: boolean;
  last: boolean;
}

export interface ScatterEntry {
  address: bigint;
  length: number;
  localKey: number;
}

/** descriptor_fetch, and receive_queue_entry_handler between its links: native/test/receive_queue_port.cpp */
export interface ReceiveQueuePort extends HostMethods {
  /** Creates a queue pair that is ready to receive. Returns its number. */
  createQueuePair(options: QueuePairOptions): number;
  setState(underlyingFunction: number, queuePair: number, state: number): void;
  /** State, or null when the queue pair is gone. */
  state(underlyingFunction: number, queuePair: number): number | null;
  /** Bytes of its queue_pair_responder. */
  responder(underlyingFunction: number, queuePair: number): Uint8Array;
  /** Sets the state as if all work requests before this one were done. */
  setPosition(underlyingFunction: number, queuePair: number, sequenceNumber: number): void;
  /** As modify to RESET. */
  resetQueuePair(underlyingFunction: number, queuePair: number): void;
  resetFunction(underlyingFunction: number): void;
  takeEvents(): Uint8Array[];
  dmaFaults(underlyingFunction: number): number;

  take(underlyingFunction: number, queuePair: number): Descriptor | null;
  /** The descriptor taken last, from the context. */
  taken(underlyingFunction: number, queuePair: number): Descriptor;
  /** As the register receive_doorbell. */
  doorbell(underlyingFunction: number, value: bigint): boolean;
  takeDoorbell(): { underlyingFunction: number; queuePairNumber: number } | null;
  /** Whether the one who takes flushes was woken since the last call. */
  wasWokenByDoorbell(): boolean;

  /** Pushes a unit to the handler. Returns its packet; null: the link has no credit. */
  accept(unit: AcceptedUnit): number | null;
  /** Steps the handler if it is awake; false: it sleeps. */
  step(): boolean;
  /** The next unit that the handler passed on; `place` is null when it has no receive entry. */
  takePlaced(): { packet: number; action: number; queuePairNumber: number; place: number | null } | null;
  entry(place: number): {
    capacity: number;
    sequenceNumber: number;
    refusal: number;
    scatter: ScatterEntry[];
  };
  /** The contradiction in its state, or null. */
  verify(): string | null;
  /** The unit of the packet has ended. */
  release(packet: number): void;
  references(): number;
  placesFilled(): number;
}

interface Options {
  memoryBytes: number;
  queuePairs: number;
  queuePairContextsCached: number;
  pageTableEntries: number;
  memoryKeys: number;
}

const addon = loadTestAddon() as { ReceiveQueuePort: new (options: Options) => ReceiveQueuePort };

/** The blocks on a host memory of 16 MiB, with room for 256 queue pairs, 16 of them cached. */
export function makeReceiveQueues(): ReceiveQueuePort {
  return new addon.ReceiveQueuePort({
    memoryBytes: 16 << 20,
    queuePairs: 256,
    queuePairContextsCached: 16,
    pageTableEntries: 16384,
    memoryKeys: 256,
  });
}
