// Faults of an emulated board, and impairments of its links.

/** A fault and when it occurs: at the `nth` match and the `count - 1` after it, or at each match with a probability. */
export interface FaultRule {
  /**
   * Effect on a match. Writes: `drop`, `tear` (only some DWORDs arrive), `delay` (the write and all later ones wait), `reorder` (later
   * writes overtake it). Reads: `read_all_ones`. Interrupts: `lose_interrupt`. DMA: `fault_dma`, `slow_dma` (a read of payload takes longer
   * by so many ticks). Device memory: `flip_bits` (of a data unit that waits in a linked list queue, chosen by chance; while one waits, each
   * turn in which the device works is a match).
   */
  kind:
    | 'drop'
    | 'tear'
    | 'delay'
    | 'reorder'
    | 'read_all_ones'
    | 'lose_interrupt'
    | 'fault_dma'
    | 'slow_dma'
    | 'flip_bits';
  /** Matches only this function. Default: all. */
  underlyingFunction?: number;
  /** Matches only this BAR (writes and reads). Default: all. */
  bar?: number;
  /** Matches only accesses in [begin, end): offsets in the BAR, DMA addresses, or interrupt vectors. Default: all. */
  begin?: number | bigint;
  /** End of the range, exclusive; larger than `begin`. */
  end?: number | bigint;
  /** The first match that is affected, counted from 0. Default 0. */
  nth?: number;
  /** Number of matches that are affected. Default 1; 0: all from the nth on. */
  count?: number;
  /** Affects a match with this probability, from the board's seed; `nth` and `count` then count only the selected matches. Default 1. */
  probability?: number;
  /** tear: bit i lets DWORD i of the transaction arrive; 1 to 0xffff. Default 1: the first. */
  doubleWords?: number;
  /** delay, reorder: releases the write after this number of later transactions. Default 1 if no ticks are given. */
  transactions?: number;
  /** delay, reorder: releases the write after this number of ticks. slow_dma: the time added to a read, at least 1. */
  ticks?: number;
  /** flip_bits: 1, which the device corrects, or 2 of one word, which it detects. Default 1. */
  bits?: number;
}

/**
 * An impairment of packets on the way to the ports of a board, and the packets to which it applies. The first matching rule applies to a
 * packet. Random numbers come from the board's seed and number. Packets that a port loops back are not affected.
 */
export interface LinkImpairment {
  /** Matches only packets from the board with this number. Default: any. */
  fromBoard?: number;
  /** Matches only packets to the queue pair with this number, which for a connection selects the flow. Default: any. */
  queuePair?: number;
  /** Matches only datagrams from the queue pair with this number; packets of connections do not carry it. Default: any. */
  sourceQueuePair?: number;
  /** Matches only responses, or only requests. Default: both. */
  lane?: 'responses' | 'requests';
  /** The first match that is affected, counted from 0. Default 0. */
  nth?: number;
  /** Number of matches that are affected. Default 0: all from the nth on. */
  count?: number;
  /** Probability, 0 to 1, that a packet is lost. Default 0. */
  loss?: number;
  /** Probability, 0 to 1, that a packet is duplicated. Default 0. */
  duplication?: number;
  /** Probability, 0 to 1, that a bit of a packet is flipped. Default 0. */
  corruption?: number;
  /** Probability, 0 to 1, that later packets overtake a packet. Default 0. */
  reordering?: number;
  /** Latency in ticks. Default 0. */
  delay?: number;
  /** Additional ticks of a packet that is overtaken. Default 4096. */
  reorderDelay?: number;
  /** Bandwidth in bits per second. Default 0: unlimited. */
  rate?: number;
}

/** Counters of a {@link LinkImpairment}. */
export interface LinkImpairmentCounters {
  /** Packets to which it applied. */
  packets: number;
  /** Packets lost. */
  lost: number;
  /** Packets duplicated. */
  duplicated: number;
  /** Packets with a flipped bit. */
  corrupted: number;
  /** Packets that later ones overtook. */
  reordered: number;
}

/** A DMA of the device that the IOMMU refused. */
export interface DmaFault {
  /** Function of the DMA. */
  underlyingFunction: number;
  /** DMA address. */
  address: bigint;
  /** Length of the access in bytes. */
  bytes: number;
  /** Direction: the device read host memory, or wrote it. */
  direction: 'read' | 'write';
  /** Cause: nothing is mapped there, the mapping lacks this right, or an injected fault refused the access. */
  reason: 'not_mapped' | 'no_right' | 'injected';
  /** Device clock, ticks. */
  time: bigint;
}
