// Faults of an emulated board, and impairments of its links.

/** A fault and when it happens: at the `nth` match and the `count - 1` after it, or at each with a probability. */
export interface FaultRule {
  /**
   * The effect on a match. Writes: `drop`, `tear` (only some DWORDs arrive), `delay` (it and all writes behind it
   * wait), `reorder` (later writes pass it). Reads: `read_all_ones`. Interrupts: `lose_interrupt`. DMA: `fault_dma`.
   */
  kind: 'drop' | 'tear' | 'delay' | 'reorder' | 'read_all_ones' | 'lose_interrupt' | 'fault_dma';
  /** Only this function. Default: all. */
  underlyingFunction?: number;
  /** Only this BAR (writes and reads). Default: all. */
  bar?: number;
  /** Only what touches [begin, end): offsets in the BAR, DMA addresses, or interrupt vectors. Default: all. */
  begin?: number | bigint;
  /** Behind the last one; larger than `begin`. */
  end?: number | bigint;
  /** The first match it happens to, counted from 0. Default 0. */
  nth?: number;
  /** How many matches it happens to. Default 1; 0: all from the nth on. */
  count?: number;
  /** Happens to a match with this probability, from the board's seed; `nth` and `count` count what it chose. Default 1. */
  probability?: number;
  /** tear: bit i set: DWORD i of the transaction arrives; 1 to 0xffff. Default 1: the first. */
  doubleWords?: number;
  /** delay, reorder: released when so many later transactions have arrived. Default 1 when no ticks are given. */
  transactions?: number;
  /** delay, reorder: released when so many ticks have passed. */
  ticks?: number;
}

/**
 * An impairment of packets on their way to the ports of a board, and the packets that it meets. A packet meets the first rule that it matches.
 * Random numbers come from the board's seed and number. Packets that loop back inside a port meet none.
 */
export interface LinkImpairment {
  /** Only from the board of this number. Default: any. */
  fromBoard?: number;
  /** Only to the queue pair of this number: of a connection that is the flow. Default: any. */
  queuePair?: number;
  /** Only datagrams from the queue pair of this number; packets of connections do not name theirs. Default: any. */
  sourceQueuePair?: number;
  /** Only responses, or only requests. Default: both. */
  lane?: 'responses' | 'requests';
  /** The first match that it deals with, counted from 0. Default 0. */
  nth?: number;
  /** How many matches it deals with. Default 0: all from the nth on. */
  count?: number;
  /** Probability, 0 to 1, that a packet is lost. Default 0. */
  loss?: number;
  /** Probability, 0 to 1, that a packet comes twice. Default 0. */
  duplication?: number;
  /** Probability, 0 to 1, that a bit of a packet is turned. Default 0. */
  corruption?: number;
  /** Probability, 0 to 1, that later packets overtake one. Default 0. */
  reordering?: number;
  /** Ticks on the way. Default 0. */
  delay?: number;
  /** Ticks by which a packet that is overtaken comes later. Default 4096. */
  reorderDelay?: number;
  /** Bits a second that are carried. Default 0: all. */
  rate?: number;
}

/** How often what a {@link LinkImpairment} says has happened. */
export interface LinkImpairmentCounters {
  /** Packets that it dealt with. */
  packets: number;
  /** Packets that it lost. */
  lost: number;
  /** Packets that came twice. */
  duplicated: number;
  /** Packets in which it turned a bit. */
  corrupted: number;
  /** Packets that later ones overtook. */
  reordered: number;
}

/** A DMA of the device that the IOMMU refused. */
export interface DmaFault {
  /** Function whose DMA it was. */
  underlyingFunction: number;
  /** DMA address. */
  address: bigint;
  /** Bytes of the access. */
  bytes: number;
  /** The device read host memory, or wrote it. */
  direction: 'read' | 'write';
  /** Nothing is mapped there, it is mapped without this right, or a fault of a test refused it. */
  reason: 'not_mapped' | 'no_right' | 'injected';
  /** Device clock, ticks. */
  time: bigint;
}
