/** How a board is served to other processes. */
export interface ServedBoardOptions {
  /** Of the socket, which is made with mode 0600. */
  path: string;
  /** The first function that clients may open; those below are the server's. Default 1. */
  firstFunction?: number;
  /** Bytes that a client may have for DMA. Default 4 GiB. */
  memoryPerClient?: number;
  /** Milliseconds in which a process that has connected must open a function, or look at one. Default 5,000. */
  openWithin?: number;
}

/**
 * Work of the thread of a served board. A unit is a transaction, a request, an entry of a table of DMA addresses that is set or
 * cleared, or a page that is given back to the system. In a turn every client has its ring served and a request answered.
 */
export interface ServedWork {
  /** Turns until now. */
  turns: number;
  /** Units in them. */
  units: number;
  /** In the longest turn: what a client may have had to wait for. */
  mostUnitsInTurn: number;
}

/** An event of a client of a served board. */
export interface ServedNotice {
  /** It opened the function; it closed it, or has died; it did what no client does, and is not served any more. */
  kind: 'opened' | 'closed' | 'refused';
  /** Function that it opened, or looked at. */
  underlyingFunction: number;
  /** Its process. */
  process: number;
  /** Of refused: what it did. */
  reason: string;
}

/** A board that other processes open functions of. */
export interface ServedBoard {
  /** Events of clients since the last call, oldest first; the newest 1,024 are kept. */
  takeNotices(): ServedNotice[];
  /** Work of its thread until now. */
  work(): ServedWork;
  /** Ends it: for its clients the device is gone. Twice is once. */
  close(): void;
}

/** A server's description of its board. */
export interface ServedFacts {
  /** Busy: the server accepts no connection; silent: it did not answer in time. Then the rest is 0 and empty. */
  state: 'serving' | 'busy' | 'silent';
  /** Of the board. */
  underlyingFunctions: number;
  /** The first that clients may open. */
  firstFunction: number;
  /** Those that clients have open. */
  open: number[];
}
