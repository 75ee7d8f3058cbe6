import type { Service } from './wire.ts';

/**
 * One step, and its complete results: an omitted list is empty. Packets are written as in {@link
 * ./notation.ts}: `send_only @0 bytes=10`, with PSNs relative to the first.
 */
export interface Step {
  /** Before the step the queue pair is reset and reconnected from the same PSN. */
  readonly reconnect?: boolean;
  /** Packets from the peer. */
  readonly in?: readonly string[];
  /** Send work requests, posted together and numbered from 0 throughout the row. */
  readonly post?: readonly string[];
  /** Receive work requests, by their size; numbered from 0. Receive n is at inbox + 1024 n. */
  readonly receives?: readonly number[];
  /** Time that passes: until a timer expires, or until just before. */
  readonly wait?: 'timeout' | 'nearly timeout' | 'rnr' | 'nearly rnr';
  /** Packets to the peer. */
  readonly out?: readonly string[];
  /** Completions of the send queue: number and status. */
  readonly sent?: readonly string[];
  /** Completions of the receive queue: number and status; of a success also its bytes and other fields. */
  readonly received?: readonly string[];
}

/**
 * Attributes of the queue pair; default: path MTU 256, all rights, 16 READs and atomics, timer codes 12 (RNR)
 * and 14.
 */
export interface Setup {
  /** Rights that it does not grant. */
  readonly without?: readonly ('remoteWrite' | 'remoteRead' | 'remoteAtomic')[];
  /** READs and atomics as a responder. */
  readonly resources?: number;
  /** READs and atomics as a requester. */
  readonly depth?: number;
  /** Retry count; default 7. */
  readonly retries?: number;
  /** RNR retry count; default 7, unlimited. */
  readonly rnrRetries?: number;
  /** Local ACK timeout; default 14. */
  readonly timeout?: number;
  /** End-to-end credits. */
  readonly credits?: boolean;
  /** The board coalesces acknowledgements. */
  readonly coalescing?: boolean;
  /** The 64-bit number in the first 8 bytes of target. */
  readonly word?: number;
  /** A memory window of type 2 on the first 1024 bytes of target is bound. */
  readonly window?: boolean;
}

/** A row of the table. */
export interface Row {
  /** InfiniBand volume 1. */
  readonly clause: string;
  readonly what: string;
  readonly service?: Service;
  readonly setup?: Setup;
  readonly steps: readonly Step[];
  /** State of the queue pair at the end; default RTS. */
  readonly state?: 'RTS' | 'SQE' | 'ERR';
  /** All changes of memory, as in {@link ./notation.ts}: `inbox 0+10=@0`. */
  readonly memory?: readonly string[];
  /** The different behavior of Linux' rdma_rxe, from its source; undefined: the same behavior. */
  readonly linux?: string;
}

/** Rows on one subject. */
export interface Section {
  readonly subject: string;
  readonly role: 'responder' | 'requester';
  readonly rows: readonly Row[];
}
