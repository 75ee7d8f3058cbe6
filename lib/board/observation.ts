/** A queue pair, as an observer is told of it. Enums as in fpga/doc/formats.md. */
export interface QueuePairFacts {
  /** 24 bits. */
  number: number;
  underlyingFunction: number;
  serviceType: number;
  state: number;
  /** QoS level. */
  level: number;
  /** A send_hold: what its send queue waits for. */
  hold: number;
  protectionDomain: number;
  /** From 1; 0: it has none yet. */
  port: number;
  sendCompletionQueue: number;
  receiveCompletionQueue: number;
  /** 0: it has a receive queue of its own. */
  sharedReceiveQueue: number;
  /** Of a connection. */
  destinationQueuePair: number;
  /** 16 bytes. */
  destinationGid: Uint8Array;
  /** 16 bits (InfiniBand). */
  destinationLocalIdentifier: number;
  /** Sequence numbers of the send queue, 16 bits: to execute, newest posted, oldest not acknowledged. */
  next: number;
  posted: number;
  acknowledged: number;
  /** Sequence numbers of the receive queue, 16 bits: to take, and behind the newest that the device knows. */
  receiveHead: number;
  receiveTail: number;
  /** 24 bits. */
  nextPsn: number;
  expectedPsn: number;
}

/** A memory region or a window, as an observer is told of it. */
export interface RegionFacts {
  /** L_Key and R_Key. */
  key: number;
  underlyingFunction: number;
  protectionDomain: number;
  /** Of access_flag, a bit each. */
  accessFlags: number;
  /** First address, and bytes. */
  base: bigint;
  length: bigint;
  pageLog2: number;
  /** Accesses that are under way. */
  inFlight: number;
  /** Windows that are bound to a region. */
  windows: number;
  isWindow: boolean;
  /** No access begins any more: it is being taken back. */
  quiesced: boolean;
}

/** An asynchronous event, as an observer is told of it. Enums as in fpga/doc/formats.md. */
export interface WatchedEvent {
  underlyingFunction: number;
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

/** An observer watches one of these: kick records, asynchronous events, or blocks of a pcapng file with the packets at the ports. */
export type WatchKind = 'kicks' | 'events' | 'packets';

/**
 * A watch on what a board does. The board writes and never waits: who takes too late loses what is oldest, and is told how much. It costs the board
 * nothing that one does not take, and nothing at all when no observer watches.
 */
export interface Watch {
  /** Comes before all that is taken: of packets the head of a pcapng file. */
  readonly preamble: Uint8Array;
  /**
   * Copies what is there, oldest first, one behind the other, as much as fits whole: kick records of 64 B, or blocks of a pcapng file. Gives
   * the bytes.
   */
  take(to: Uint8Array): number;
  /** Takes events, up to 64; only of a watch of events. */
  takeEvents(): WatchedEvent[];
  /** Records, events or packets that this watch did not get, since it began. */
  lost(): number;
  /** Ends it. Twice is once. */
  close(): void;
}
