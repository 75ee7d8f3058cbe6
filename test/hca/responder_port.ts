import { loadTestAddon } from '../helpers/test_addon.ts';
import type { HostMethods } from '../helpers/hosted_port.ts';

/** Counters of a function. */
export interface ResponderCounters {
  requestsDropped: number;
  requestsDuplicate: number;
  negativeAcknowledges: number;
  receiverNotReadyNegativeAcknowledges: number;
}

/**
 * The blocks from receive to response on a flat host memory: native/test/responder_port.cpp. Pages are DMA
 * addresses of 4 KiB each; 0: not mapped.
 */
export interface ResponderPort extends HostMethods {
  /** Creates a key from a memory_key_entry. */
  createKey(entry: Uint8Array, pages: readonly bigint[]): number;
  quiesceKey(key: number): void;
  /** Destroys a key that has become quiet; returns it, or null. */
  takeQuietKey(): number | null;
  createCompletionQueue(underlyingFunction: number, input: Uint8Array, pages: readonly bigint[]): number;
  /**
   * Creates a queue pair from a queue_pair_control, with the pages of its receive queue and of the entries.
   */
  createQueuePair(
    underlyingFunction: number,
    control: Uint8Array,
    receiveQueuePages: readonly bigint[],
    receiveEntryPages: readonly bigint[],
  ): number;
  setState(underlyingFunction: number, queuePair: number, state: number): void;
  /** State, or null if the queue pair no longer exists. */
  state(underlyingFunction: number, queuePair: number): number | null;
  /** Changes its destination queue pair. */
  setPeer(underlyingFunction: number, queuePair: number, peer: number): void;
  setResponder(underlyingFunction: number, queuePair: number, responder: Uint8Array): void;
  /** Bytes of its queue_pair_responder. */
  responder(underlyingFunction: number, queuePair: number): Uint8Array;
  quiesce(underlyingFunction: number, queuePair: number): void;
  /** Destroys a queue pair that has become quiet; returns its number, or null. */
  takeQuiet(): number | null;
  pins(queuePair: number): number;
  resetFunction(underlyingFunction: number): void;

  /** Passes a packet to receive; false: no buffer, no credit, or the queue pair accepts none. */
  arrive(underlyingFunction: number, queuePair: number, wire: Uint8Array): boolean;
  flush(underlyingFunction: number, queuePair: number): boolean;
  /** Writes the register receive_doorbell. */
  doorbell(underlyingFunction: number, value: bigint): boolean;
  /** Lets the next awake block work; false: all sleep. */
  step(): boolean;
  /** The next answer as sent on the wire, or null. */
  takeAnswer(): Uint8Array | null;
  /** Suspends or resumes descriptor_fetch. */
  holdDescriptors(held: boolean): void;
  /** Takes all packet buffers for responses, permanently. */
  holdResponseBuffers(): void;

  takeEvents(): Uint8Array[];
  counters(underlyingFunction: number): ResponderCounters;
  /** The contradiction in its state when nothing is in flight, or null. */
  verify(): string | null;
}

/** Parameters of the model; omitted ones have their defaults. */
export interface ResponderOptions {
  acknowledgeCoalescing?: boolean;
  queuePairs?: number;
}

const addon = loadTestAddon() as {
  ResponderPort: new (options: ResponderOptions & Record<string, unknown>) => ResponderPort;
};

/** The blocks on a host memory of 16 MiB, whose end is context memory. */
export function makeResponder(options: ResponderOptions = {}): ResponderPort {
  return new addon.ResponderPort({
    memoryBytes: 16 << 20,
    queuePairs: 256,
    queuePairContextsCached: 16,
    pageTableEntries: 65536,
    memoryKeys: 256,
    ...options,
  });
}
