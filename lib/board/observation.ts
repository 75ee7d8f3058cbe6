/**
 * A queue pair as an observer sees it; if `timeWaitLeft` is not 0, a number in time-wait, with only the queue pair that had it and the function
 * of that one. Enums are those of fpga/doc/formats.md.
 */
export interface QueuePairFacts {
  /** Number in commands, completions and events, 24 bits. */
  number: number;
  /** Number that peers know, 24 bits (US7095750). */
  virtualQueuePair: number;
  /** Microseconds until the number leaves time-wait; 0: it is not in time-wait, and this is a queue pair. */
  timeWaitLeft: number;
  /** Function that owns it. */
  underlyingFunction: number;
  /** A service_type. */
  serviceType: number;
  /** A queue_pair_state. */
  state: number;
  /** QoS level. */
  level: number;
  /** A send_hold: the reason why its send queue waits. */
  hold: number;
  /** Number of its protection domain. */
  protectionDomain: number;
  /** Port, from 1; 0: none yet. */
  port: number;
  /** Number of the completion queue of its sends. */
  sendCompletionQueue: number;
  /** Number of the completion queue of its receives. */
  receiveCompletionQueue: number;
  /** Number of its shared receive queue; 0: it has its own receive queue. */
  sharedReceiveQueue: number;
  /** Queue pair at the other end of a connection; 0: not connected. */
  destinationQueuePair: number;
  /** GID of the other end, 16 bytes. */
  destinationGid: Uint8Array;
  /** LID of the other end, 16 bits (InfiniBand). */
  destinationLocalIdentifier: number;
  /** Sequence number of the command to execute next, 16 bits. */
  next: number;
  /** Sequence number of the newest posted command, 16 bits. */
  posted: number;
  /** Sequence number of the oldest command that is not acknowledged, 16 bits. */
  acknowledged: number;
  /** Sequence number of the next receive to take, 16 bits. */
  receiveHead: number;
  /** Sequence number after the newest receive that the device knows, 16 bits. */
  receiveTail: number;
  /** PSN of the next request packet, 24 bits. */
  nextPsn: number;
  /** PSN of the expected request packet, 24 bits. */
  expectedPsn: number;
}

/** A memory region or window as an observer sees it. */
export interface RegionFacts {
  /** L_Key and R_Key. */
  key: number;
  /** Function that owns it. */
  underlyingFunction: number;
  /** Number of its protection domain. */
  protectionDomain: number;
  /** Rights: bits of access_flag. */
  accessFlags: number;
  /** First address. */
  base: bigint;
  /** Length in bytes. */
  length: bigint;
  /** log2 of its page size in bytes. */
  pageLog2: number;
  /** Number of accesses in flight. */
  inFlight: number;
  /** Number of windows bound to a region. */
  windows: number;
  /** True for a memory window. */
  isWindow: boolean;
  /** The key is being invalidated: no new access starts. */
  quiesced: boolean;
}

/** An asynchronous event as an observer sees it. Enums are those of fpga/doc/formats.md. */
export interface WatchedEvent {
  /** Function that gets the event. */
  underlyingFunction: number;
  /** An event_type. */
  type: number;
  /** Type-specific: a refusal. */
  reason: number;
  /** Offset of a refused write. */
  offset: number;
  /** Number of a queue pair, completion queue, virtual collect buffer or port. */
  object: number;
  /** Type-specific. */
  detail: bigint;
  /** Device clock, ticks. */
  timestamp: bigint;
}

/**
 * Kind of a watch: kick records, asynchronous events, blocks of a pcapng file with the packets at the ports, or entries of completion
 * queues.
 */
export type WatchKind = 'kicks' | 'events' | 'packets' | 'completions';

/**
 * A watch on the activity of a board. The board writes records and never waits: an observer that reads too late loses the oldest, and
 * learns how many. A watch costs the board only the records that are read, and nothing when no observer watches.
 */
export interface Watch {
  /** Data that precedes all records: for packets, the header of a pcapng file. */
  readonly preamble: Uint8Array;
  /**
   * Copies the available records back to back, oldest first, as many as fit completely: kick records or completion queue entries of 64 B,
   * or blocks of a pcapng file. Returns the number of bytes.
   */
  take(to: Uint8Array): number;
  /** Takes up to 64 events; only for a watch of events. */
  takeEvents(): WatchedEvent[];
  /** Records, events, packets or entries that this watch has lost since it began. */
  lost(): number;
  /** Ends the watch. A second call has no effect. */
  close(): void;
}
