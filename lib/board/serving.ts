/** Options for serving a board to other processes. */
export interface ServedBoardOptions {
  /** Path of the socket, which is created with mode 0600. */
  path: string;
  /** First function that clients may open; the server keeps the lower ones. Default 1. */
  firstFunction?: number;
  /** Maximum DMA memory of a client in bytes. Default 4 GiB. */
  memoryPerClient?: number;
  /** Milliseconds within which a connected process must open or observe a function. Default 5,000. */
  openWithin?: number;
}

/**
 * Work of a served board's thread. A unit is a transaction, a request, an entry set or cleared in a table of DMA addresses, or a page
 * returned to the system. In a turn, the thread serves the ring of every client and answers one request of each.
 */
export interface ServedWork {
  /** Number of turns. */
  turns: number;
  /** Units in all turns. */
  units: number;
  /** Units in the longest turn: an upper bound of the wait of a client. */
  mostUnitsInTurn: number;
}

/** An event of a client of a served board. */
export interface ServedNotice {
  /** Kind: the client opened the function; it closed it or died; it violated the protocol, and the server disconnected it. */
  kind: 'opened' | 'closed' | 'refused';
  /** Function that it opened or observed. */
  underlyingFunction: number;
  /** Process ID of the client. */
  process: number;
  /** For refused: the violation. */
  reason: string;
}

/** A board whose functions other processes can open. */
export interface ServedBoard {
  /** Returns client events since the last call, oldest first; the newest 1,024 are kept. */
  takeNotices(): ServedNotice[];
  /** Returns the work of its thread so far. */
  work(): ServedWork;
  /** Stops serving: clients lose their device. A second call has no effect. */
  close(): void;
}

/** A server's description of its board. */
export interface ServedFacts {
  /** Busy: the server accepts no connection; silent: it did not answer in time. In both cases the other fields are 0 and empty. */
  state: 'serving' | 'busy' | 'silent';
  /** Name of the board. */
  underlyingFunctions: number;
  /** First function that clients may open. */
  firstFunction: number;
  /** Functions that clients have open. */
  open: number[];
}
