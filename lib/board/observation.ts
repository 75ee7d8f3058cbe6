/**
 * A queue pair, as an observer is told of it; or, with timeWaitLeft, a number in time-wait, of which the rest is 0 but the queue pair that had
 * it and that one's function. Enums as in fpga/doc/formats.md.
 */
export interface QueuePairFacts {
  /** Number in commands, completions and events, 24 bits. */
  number: number;
  /** Number that peers know, 24 bits (US7095750). */
  virtualQueuePair: number;
  /** Microseconds for which the number is in time-wait; 0: it is not, and this is a queue pair. */
  timeWaitLeft: number;
  /** Function that it belongs to. */
  underlyingFunction: number;
  /** A service_type. */
  serviceType: number;
  /** A queue_pair_state. */
  state: number;
  /** QoS level. */
  level: number;
  /** A send_hold: what its send queue waits for. */
  hold: number;
  /** Number of its protection domain. */
  protectionDomain: number;
  /** From 1; 0: it has none yet. */
  port: number;
  /** Number of the completion queue of its sends. */
  sendCompletionQueue: number;
  /** Number of the completion queue of its receives. */
  receiveCompletionQueue: number;
  /** Number of its shared receive queue; 0: it has a receive queue of its own. */
  sharedReceiveQueue: number;
  /** Queue pair at the other end of a connection; 0: it is not connected. */
  destinationQueuePair: number;
  /** GID of the other end, 16 bytes. */
  destinationGid: Uint8Array;
  /** LID of the other end, 16 bits (InfiniBand). */
  destinationLocalIdentifier: number;
  /** Sequence number of the command to execute next, 16 bits. */
  next: number;
  /** Sequence number of the newest command that is posted, 16 bits. */
  posted: number;
  /** Sequence number of the oldest command that is not acknowledged, 16 bits. */
  acknowledged: number;
  /** Sequence number of the receive to take next, 16 bits. */
  receiveHead: number;
  /** Sequence number behind the newest receive that the device knows, 16 bits. */
  receiveTail: number;
  /** PSN of the next request packet, 24 bits. */
  nextPsn: number;
  /** PSN of the request packet that is expected, 24 bits. */
  expectedPsn: number;
}

/** A memory region or a window, as an observer is told of it. */
export interface RegionFacts {
  /** L_Key and R_Key. */
  key: number;
  /** Function that it belongs to. */
  underlyingFunction: number;
  /** Number of its protection domain. */
  protectionDomain: number;
  /** Of access_flag, a bit each. */
  accessFlags: number;
  /** First address. */
  base: bigint;
  /** Bytes. */
  length: bigint;
  /** log2 of the bytes of its pages. */
  pageLog2: number;
  /** Accesses that are under way. */
  inFlight: number;
  /** Windows that are bound to a region. */
  windows: number;
  /** It is a memory window. */
  isWindow: boolean;
  /** No access begins any more: it is being taken back. */
  quiesced: boolean;
}

/** An asynchronous event, as an observer is told of it. Enums as in fpga/doc/formats.md. */
export interface WatchedEvent {
  /** Function that it happened to. */
  underlyingFunction: number;
  /** An event_type. */
  type: number;
  /** Type-specific: a refusal. */
  reason: number;
  /** Of a write that was refused. */
  offset: number;
  /** Number of a queue pair, completion queue, virtual collect buffer or port. */
  object: number;
  /** Type-specific. */
  detail: bigint;
  /** Device clock, ticks. */
  timestamp: bigint;
}

/**
 * An observer watches one of these: kick records, asynchronous events, blocks of a pcapng file with the packets at the ports, or entries
 * of completion queues.
 */
export type WatchKind = 'kicks' | 'events' | 'packets' | 'completions';

/**
 * A watch on what a board does. The board writes and never waits: who takes too late loses what is oldest, and is told how much. It costs the board
 * nothing that one does not take, and nothing at all when no observer watches.
 */
export interface Watch {
  /** Comes before all that is taken: of packets the head of a pcapng file. */
  readonly preamble: Uint8Array;
  /**
   * Copies what is there, oldest first, one behind the other, as much as fits whole: kick records or completion queue entries of 64 B, or
   * blocks of a pcapng file. Gives the bytes.
   */
  take(to: Uint8Array): number;
  /** Takes events, up to 64; only of a watch of events. */
  takeEvents(): WatchedEvent[];
  /** Records, events, packets or entries that this watch did not get, since it began. */
  lost(): number;
  /** Ends it. Twice is once. */
  close(): void;
}
