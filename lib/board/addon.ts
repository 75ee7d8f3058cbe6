import { createRequire } from 'node:module';

import { howToBuild, nativeFile } from './native_files.ts';

// The native surface, whole: what the addon exports, with units and errors. Offsets and lengths are bytes; offsets in
// a BAR are multiples of 4 and safe integers; 32-bit values are unsigned. Every call on a closed object throws an Error
// with the code ERR_CLOSED; a wrong argument throws a TypeError or RangeError that says what would be right.

/** How a board advances: on the threads that use it, on a thread of its own, or when a test steps it. */
export type Progress = 'shared' | 'own' | 'stepped';

/** How stores to the prefetchable BAR become transactions: combined to 64 B, at their worst from the seed, or 8 B each. */
export type CommandMapping = 'write_combining' | 'adversarial' | 'uncached';

/** Options of an emulated board. */
export interface BoardOptions {
  /** Boards of one name are one board in the whole process, across worker threads. None: a board of its own. */
  name?: string;
  /** Default shared. */
  progress?: Progress;
  /** CPU that an own device thread is pinned to. None: it may run on every CPU of the process. */
  deviceCpu?: number;
  /** Microseconds without work after which an own device thread sleeps; it wakes for what comes. Default 2000. */
  sleepAfter?: number;
  /** Seed of adversarial write combining and of faults with a probability. Default 1. */
  seed?: number;
  /** Default write_combining. */
  mapping?: CommandMapping;
  /** The bridge before the board makes DWORD writes only. */
  doubleWordOnly?: boolean;
  /** An ACK is sent for the last packet of a message and where it is asked for, not for every packet. Default true. */
  acknowledgeCoalescing?: boolean;
  /** Sizes of the device, as named in native/hca/base/parameters.h; the specification's are defaults and upper bounds. */
  underlyingFunctions?: number;
  virtualCollectBuffers?: number;
  physicalCollectBuffers?: number;
  dedicatedPhysicalCollectBuffers?: number;
  managementPhysicalCollectBuffers?: number;
  transmitVirtualLanes?: number;
  executionCreditsPerLane?: number;
  completionCreditsPerLane?: number;
  sharedExecutionCredits?: number;
  sharedCompletionCredits?: number;
  sharedExecutionCreditsCap?: number;
  sharedCompletionCreditsCap?: number;
  queuePairContextsCached?: number;
  queuePairs?: number;
  /** Number 0, which names none, is one of them. */
  completionQueues?: number;
  pageTableEntries?: number;
  memoryKeys?: number;
  schedulerBatch?: number;
  ports?: number;
  /** Link layer of the ports. Default ethernet: RoCEv2. */
  linkLayer?: 'ethernet' | 'infiniband';
  /** Ports of boards whose fabric has the same name are connected, in the whole process. None: nothing is attached to its ports. */
  fabric?: string;
  /**
   * `shm:NAME`: the first port is an end of a cable between two processes of one user, through memory that both map; it is down until
   * the other end is there.
   * `udp:ADDRESS`: it sends and receives RoCEv2 by a UDP socket on port 4791 of an IPv4 or IPv6 address of this machine (a
   * link-local one with its interface, as fe80::1%eth0), which becomes the GID of function 0; boards of one machine take 127.0.0.1,
   * 127.0.0.2 and so on.
   * `ethernet:OWN,PEER[,vlan=NUMBER][,gateway=ADDRESS/BITS]`: it sends and receives Ethernet frames by Unix datagram sockets, that of its own and that of the peer: of a
   * virtual machine's network card, or of another board. It is found by ARP and neighbor discovery, and finds others so. All frames
   * have the tag of the virtual LAN, if it is in one. IPv4 addresses that differ from that of the gateway, a router, in the first BITS
   * bits are reached by it.
   * None: what `fabric` says.
   */
  link?: string;
  /**
   * 0 to 1023: the addresses of the ports follow from it. Default: the lowest that is free in the fabric or at the link, or 0
   * without one.
   */
  boardNumber?: number;
  /**
   * Impairment of packets on their way to its ports, from the seed: {@link LinkImpairment} without its choice of packets.
   * Probabilities, 0 to 1; default 0.
   */
  linkLoss?: number;
  linkDuplication?: number;
  linkCorruption?: number;
  linkReordering?: number;
  /** Device clock, ticks. */
  linkDelay?: number;
  /** Bits a second. */
  linkRate?: number;
  /** File to which the packets at its ports are written: {@link EmulatedBoard.startCapture}. */
  capture?: string;
  /** How scoreboards are kept. Default masked. */
  scoreboardVariant?: 'masked' | 'direct';
}

/** A PCIe transaction as it reached the device. */
export interface Transaction {
  kind: 'write' | 'read';
  /** Function whose BAR it is. */
  underlyingFunction: number;
  bar: number;
  /** In the BAR, a multiple of 4. */
  offset: number;
  /** A multiple of 4, up to 64, within one aligned 64 B. For a read 4: the answer is the data. */
  data: Uint8Array;
  /** Bit i: data[i] is written. */
  byteEnables: bigint;
  /** Device clock, ticks. */
  time: bigint;
}

/** A packet at a port, as it is on the wire. */
export interface PortPacket {
  /** A packet to an own address goes out and comes in. */
  direction: 'in' | 'out';
  /** From 1. */
  port: number;
  /** Device clock, ticks. */
  time: bigint;
  /** From the first link byte to ICRC or VCRC. */
  data: Uint8Array;
}

/** A write to put into the link. */
export interface PostedWrite {
  /** Default 0. */
  underlyingFunction?: number;
  /** Default 0. */
  bar?: number;
  /** In the BAR, a multiple of 4. Default 0. */
  offset?: number;
  data: Uint8Array;
  /** Bit i: data[i] is written. Default: all. */
  byteEnables?: bigint;
}

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
  /** Only what touches [begin, end): offsets in the BAR, DMA addresses, or interrupt vectors; `end` is larger. Default: all. */
  begin?: number | bigint;
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
  /** Probabilities, 0 to 1, that a packet is lost, comes twice, has a bit turned, is overtaken by later ones. Default 0. */
  loss?: number;
  duplication?: number;
  corruption?: number;
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
  lost: number;
  duplicated: number;
  corrupted: number;
  reordered: number;
}

/** A DMA of the device that the IOMMU refused. */
export interface DmaFault {
  underlyingFunction: number;
  address: bigint;
  bytes: number;
  direction: 'read' | 'write';
  reason: 'not_mapped' | 'no_right' | 'injected';
  time: bigint;
}

/** Counters of a board since it was made. */
export interface BoardCounters {
  /** Write transactions that reached the device. */
  writes: number;
  /** Reads that the device answered. */
  reads: number;
  /** Writes outside the regions of the function: unsupported requests, dropped. */
  writesUnsupported: number;
  /** Reads outside the regions of the function, answered by all ones. */
  readsUnsupported: number;
  /** DMA accesses refused. */
  dmaFaults: number;
  interrupts: number;
  interruptsLost: number;
  /** Transactions that faults dropped whole. */
  writesLost: number;
  /** Transactions that did not fit into the trace. */
  traceDropped: number;
  /** Units of work of the device. */
  steps: number;
}

/** An emulated board: the device model behind BARs, an IOMMU and interrupts. */
export interface EmulatedBoard {
  /** Opens underlying function `underlyingFunction`; a function may be open more than once. Throws RangeError: no such function. */
  open(underlyingFunction: number): BoardFunction;
  /** Opens the lowest function but the control function that no thread has open. Undefined: there is none. */
  openFree(): BoardFunction | undefined;
  /**
   * Observes a function beside those that have it open: registers can be read, nothing but the inspect registers written. The control
   * function is shown what all functions do. Throws RangeError: no such function.
   */
  observe(underlyingFunction: number): BoardFunction;
  /**
   * Lets other processes of this user open functions of the board, by a socket at `path`. Throws an Error that says why: a path that is in
   * use, a board that is stepped, no function for clients.
   */
  serve(options: ServedBoardOptions): ServedBoard;
  /**
   * Puts one write into the link as it is, whatever a processor's stores would make of it. `data` is 4 to 64 B, a
   * multiple of 4, within an aligned 64 B; byte enables leave bytes out in the first and last DWORD only.
   */
  post(write: PostedWrite): void;
  /**
   * Stepped: does up to `count` ticks of work, with a unit of it from each board of the fabric that has any. Gives the number done;
   * fewer: all are idle.
   */
  step(count: number): number;
  /** Stepped: works until nothing is left, at most `limit` units (default 1,000,000). Throws when the limit is reached. */
  runUntilIdle(limit?: number): number;
  /** Stepped: lets the clock advance by `ticks`, doing what becomes due at its time. */
  advanceTime(ticks: number | bigint, limit?: number): void;
  /** Device clock, ticks. */
  now(): bigint;
  /** Adds a fault; gives its id. */
  inject(rule: FaultRule): number;
  /** How often a fault has happened. */
  injected(id: number): number;
  /** Removes one fault, or all; what they hold back is released in order. */
  clearFaults(id?: number): void;
  /** Adds a rule of what happens to packets on their way to its ports; gives its id. */
  impair(rule: LinkImpairment): number;
  /** Effects of a rule. */
  impaired(id: number): LinkImpairmentCounters;
  /** Removes one rule, or all; what they keep back arrives in its time. */
  clearImpairments(id?: number): void;
  /**
   * A packet comes to a port (default 1), as if from its link: from its first link byte to its last check, whatever it says. Throws
   * RangeError: nothing is attached to the port, or it is longer than any packet.
   */
  arrive(packet: Uint8Array, port?: number): void;
  /** An inconsistency in its device: at any time, or when it is idle and no message is unfinished. Undefined: none. */
  verify(atRest?: boolean): string | undefined;
  /** Begins to record transactions that reach the device; up to `capacity` (default 65,536), the rest is counted. */
  startTrace(capacity?: number): void;
  stopTrace(): void;
  /** Takes out what was recorded so far. */
  takeTrace(): Transaction[];
  /** Stepped: plays transactions to the device at their times; gives the number of reads whose answer differed. */
  replay(transactions: readonly Transaction[]): number;
  /** Begins to record the packets at the ports; up to `capacity` (default 4,096). */
  startPacketTrace(capacity?: number): void;
  stopPacketTrace(): void;
  /** Takes out the packets that were recorded so far. */
  takePackets(): PortPacket[];
  /** Writes the packets at the ports to a file, in the place of what is there. Throws an Error when it cannot be opened. */
  startCapture(path: string): void;
  /** Ends the file. Throws an Error when not all could be written. */
  stopCapture(): void;
  boardNumber(): number;
  /**
   * Makes a file of `bytes`, whole pages, what a function reaches: the memory of another machine, from DMA address 0 on, or where
   * the tables of that machine's IOMMU say. Throws an Error when it cannot be mapped, or something is there; RangeError: no such
   * function.
   */
  attachMemory(underlyingFunction: number, path: string, bytes: number, remapping?: RemappingRoot): void;
  /** No DMA of the function reaches it from now on. */
  detachMemory(underlyingFunction: number): void;
  /** Takes out the DMA faults since the last call (the newest 1,024 are kept). */
  takeDmaFaults(): DmaFault[];
  counters(): BoardCounters;
  /** Gives up this handle; the board goes with its last handle and function. */
  close(): void;
}

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
  turns: number;
  units: number;
  /** In the longest turn: what a client may have had to wait for. */
  mostUnitsInTurn: number;
}

/** An event of a client of a served board. */
export interface ServedNotice {
  /** It opened the function; it closed it, or has died; it did what no client does, and is not served any more. */
  kind: 'opened' | 'closed' | 'refused';
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

/** Facts on an open function that are known without asking the device. */
export interface BoardFacts {
  backend: string;
  progress: Progress;
  /** Where the device clock comes from. */
  clock: string;
  mapping: 'write_combining' | 'uncached';
  /** Widest store that reaches the prefetchable BAR as one transaction. */
  storeBytes: number;
  /** The store that writes commands: an instruction of the processor, or messages to the model. */
  commandStore: string;
  underlyingFunction: number;
  interruptVectors: number;
}

/** Memory that the device reaches, zeroed, of whole 4 KiB pages. */
export interface DmaMemory {
  /** The memory; detached by free(), so that a late access throws. */
  readonly buffer: ArrayBuffer;
  /** DMA address, in two halves and whole. */
  readonly addressLow: number;
  readonly addressHigh: number;
  readonly address: bigint;
  /** Unmaps and frees. Twice is once. */
  free(): void;
}

/** Copies commands from a memory to the VCB region: one crossing. */
export interface CommandWriter {
  /**
   * Copies `length` bytes at `sourceOffset` (a multiple of 8) of the memory to `vcbOffset` (a multiple of 64) of the
   * BAR, and fences. `length` 4 to 320, a multiple of 4.
   */
  write(this: void, vcbOffset: number, sourceOffset: number, length: number): void;
  /** Its number for {@link DirectCalls.writeCommand}. */
  readonly number: number;
  readonly calls: DirectCalls;
}

/**
 * The calls of a message into native code, without arguments: a tenth of what a call with three of them, of an object's own function, costs. All
 * boards and queues of a thread share it; what it takes and gives lies in its words.
 */
export interface DirectCalls {
  /** Number of a writer or function, offset in the BAR, offset in the memory, length. */
  readonly words: Uint32Array;
  /** {@link CommandWriter.write} of the writer whose number is the first word. Throws as that does. */
  writeCommand(this: void): void;
  /** {@link BoardFunction.advance} of the function whose number is the first word, which becomes 1 or 0. */
  advance(this: void): void;
}

/**
 * The posts of a doorbell probe, and where it sees the kick. No other code posts to the queue pair, and nothing is outstanding. All is
 * required but `cpu` and `timeout`.
 */
export interface DoorbellProbeSetup {
  virtualCollectBufferBar: number;
  /** Of the page that the command is written to. */
  virtualCollectBufferOffset: number;
  /**
   * Work queue entries; at `entryOffset`, a multiple of 64, lies an encoded command of `commandBytes`, 64 to 320, signaled and
   * without checksum: its sequence number is the probe's to write. 320 B behind the offset must be there.
   */
  entryArea: DmaMemory;
  entryOffset: number;
  commandBytes: number;
  /** References of the send queue, log2 of their number, and the next sequence number. */
  references: DmaMemory;
  sendQueueLog2: number;
  firstSequenceNumber: number;
  /** Ring of kick records, enabled and empty, log2 of their number, and the host's head. */
  records: DmaMemory;
  recordsLog2: number;
  recordsHead: DmaMemory;
  /** Completion queue of the send queue, empty, log2 of its entries, and the host's head. */
  completions: DmaMemory;
  completionsLog2: number;
  completionsHead: DmaMemory;
  /** Where the device clock is read, and its frequency in hertz. */
  clockBar: number;
  clockOffset: number;
  clockFrequency: number;
  /** CPU that the posting thread is pinned to while it posts. None: it stays as it is. */
  cpu?: number;
  /** Nanoseconds within which a record or a completion has to come. Default 10^9. */
  timeout?: number;
}

/** Result of a run of a doorbell probe: nanoseconds, an element for each post; empty when it was not stamped. */
export interface DoorbellProbeRun {
  /** Of the whole loop. */
  nanosecondsPerPost: number;
  /** Cost of taking the time once; a stamped post does it five times. */
  nanosecondsPerStamp: number;
  /** By how much times with the kick in them can be off, because they come from the device clock. */
  clockUncertainty: number;
  callToLastStore: Float64Array;
  fence: Float64Array;
  lastStoreToKick: Float64Array;
  /** Device clock alone. */
  firstWriteToKick: Float64Array;
  kickToRecord: Float64Array;
  /** From the call; host clock alone. */
  postToCompletion: Float64Array;
  /** Host clock alone. */
  lastStoreToRecord: Float64Array;
}

/**
 * Posts commands one at a time and takes the times of their way. A command is posted when the one before is completed, so that a
 * send queue of any size has room; sequence numbers go on from run to run.
 */
export interface DoorbellProbe {
  /**
   * Posts `count` commands, at least one, and waits for each. Throws an Error that says which command it was when its record
   * or completion does not come in time, is of another command, or says that it failed: such a probe is of no more use. RangeError:
   * the thread may not run on `cpu`; ERR_CLOSED: the function is closed, or a memory freed.
   */
  run(count: number, stamped: boolean): DoorbellProbeRun;
}

/**
 * A subscription to an MSI-X vector. While it is referenced it keeps the process alive, and itself; otherwise it ends when its
 * object is garbage. Begins unreferenced.
 */
export interface Interrupt {
  ref(): void;
  unref(): void;
  close(): void;
}

/** Where a machine's IOMMU (VT-d in legacy mode) finds a function's tables, in that machine's memory. */
export interface RemappingRoot {
  /** Physical address of the root table, whole pages. */
  rootTable: bigint;
  /** Of the function: bus 15:8, device 7:3, function 2:0. */
  sourceId: number;
}

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

/** An open underlying function of a board. */
export interface BoardFunction {
  /** A read flushes all writes before it. All ones: no access, or the device is gone. */
  read32(bar: number, offset: number): number;
  write32(bar: number, offset: number, value: number): void;
  write64(bar: number, offset: number, low: number, high: number): void;
  /** Stores before it reach the device before stores after it. */
  fence(): void;
  /** Lets the device work where polling drives it; false: it has nothing to do, or works on its own. */
  advance(): boolean;
  /** Its number for {@link DirectCalls.advance}. */
  readonly number: number;
  readonly calls: DirectCalls;
  /** Throws an Error with the code ENOMEM: no memory, or no DMA address, is left; RangeError: bytes. */
  allocateMemory(bytes: number): DmaMemory;
  /**
   * Maps foreign memory, held until unmap; gives its DMA address. Throws TypeError for resizable, detached or empty
   * memory, an Error with the code ENOMEM where no DMA address is left, ENOTSUP where the function reaches none. Rights of the device: default read and write.
   */
  map(memory: ArrayBuffer | ArrayBufferView, rights?: 'read' | 'write' | 'read_write'): bigint;
  /** Takes back a mapping of map(). Throws when there is none at this address. */
  unmap(address: bigint): void;
  /** `vcbBar`: the BAR that offsets of the writer are in. */
  commandWriter(memory: DmaMemory, vcbBar: number): CommandWriter;
  /** A probe of doorbell latency on this function. */
  doorbellProbe(setup: DoorbellProbeSetup): DoorbellProbe;
  /** Calls back from the event loop after vector `vector` was signalled, with the number of signals since the last call. */
  interrupt(vector: number, callback: (count: number) => void): Interrupt;
  /**
   * Calls back once from the event loop when the device is gone, or the kernel wants it back, with the reason where the backend knows it,
   * in words that follow "the device is gone: ". Behind that the function is given up: the kernel can take it out, registers read as all
   * ones, memory stays. Undefined: the backend does not tell, only a read does.
   */
  removal(callback: (reason?: string) => void): Interrupt | undefined;
  /**
   * Of a function that is observed, not open: begins to watch what it does, the control function what all do. One watch of each kind. Throws an
   * Error with the code ENOTSUP: it is open, its backend has no observers, or packets of another function than the control function.
   */
  watch(kind: WatchKind): Watch;
  /** The same of the queue pairs, and of memory regions and windows, that exist. */
  queuePairs(): QueuePairFacts[];
  regions(): RegionFacts[];
  facts(): BoardFacts;
  /**
   * Frees what was allocated and mapped through it, as does the end of its object or of its thread. The device's function is reset when
   * no process has it open any more.
   */
  close(): void;
}

/** A part of a BAR of a PCI function, and the file of sysfs that it is mapped from. */
export interface SysfsRange {
  path: string;
  bar: number;
  /** In the BAR, and in the file: whole pages. */
  offset: number;
  bytes: number;
  /** The file's mapping combines writes. Default false. */
  writeCombining?: boolean;
}

/** A PCI function through sysfs. */
export interface SysfsFunctionSetup {
  /** The function's file `config`. */
  configurationPath: string;
  /** The function's file `reset`. None: it is not reset. */
  resetPath?: string;
  ranges: readonly SysfsRange[];
  underlyingFunction: number;
}

/** A PCI function through VFIO. */
export interface VfioFunctionSetup {
  /** /dev/iommu, and /dev/vfio/devices/vfioN: used in the place of container and group where they can be opened. */
  iommuPath?: string;
  devicePath?: string;
  /** /dev/vfio/vfio */
  containerPath: string;
  /** /dev/vfio/N */
  groupPath: string;
  /** DDDD:BB:DD.F */
  address: string;
  /** Of DMA addresses that the device can say. Default 64. */
  addressBits?: number;
  underlyingFunction: number;
}

/** Exports of the addon. */
export interface Addon {
  readonly version: string;
  /** Maps a PCI function. Throws an Error with `errno`: a file is not to be opened, mapped or locked. */
  openSysfsFunction(setup: SysfsFunctionSetup): BoardFunction;
  /** Opens a PCI function's group and maps it. Throws an Error with `errno`: what VFIO, or the system, refuses. */
  openVfioFunction(setup: VfioFunctionSetup): BoardFunction;
  /** Ways to store commands that this processor has, widest first. */
  commandStores(): string[];
  EmulatedBoard: new (options?: BoardOptions) => EmulatedBoard;
  /**
   * Opens a function of a board that another process serves at `path`; without a number the lowest that is free. Throws an Error with the
   * code ENODEV: no server serves a board there; EBUSY: the function, or every one, is open; EINVAL: it is not for clients.
   * @param beside it is observed, as {@link EmulatedBoard.observe}, and not opened; the server's own functions too
   */
  openServed(path: string, underlyingFunction?: number, beside?: boolean): BoardFunction;
  /** The board that is served at each path; undefined: none. All are asked at once, and have `milliseconds` together. */
  lookAtServed(paths: readonly string[], milliseconds: number): (ServedFacts | undefined)[];
  /**
   * The process ends within `milliseconds` of a first SIGINT or SIGTERM, whatever its threads do, and at once at a second one, unless it
   * has ended of itself; with `lastWords` on standard error and `exitCode`. For the process of a command, once its own handlers are there.
   */
  promisePromptEnd(milliseconds: number, lastWords: string, exitCode: number): void;
  /** Round trips of one cache line between two threads, nanoseconds each; CPUs < 0: not pinned. */
  cacheLineRoundTrip(iterations: number, cpu: number, otherCpu: number): Float64Array;
}

/**
 * Loads the addon: the one that FPGA_VERBS_ADDON names (sanitizers, mutants), else the one that `nativeFile` finds.
 * @throws Error: it is missing, or this machine cannot load it; says how to build it
 */
export function loadAddon(): Addon {
  const file = process.env['FPGA_VERBS_ADDON'] ?? nativeFile('fpga_verbs.node');
  try {
    return createRequire(import.meta.url)(file) as Addon;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the native addon cannot be loaded: ${reason}; ${howToBuild}`, { cause });
  }
}
