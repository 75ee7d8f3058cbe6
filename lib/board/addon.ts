import { createRequire } from 'node:module';

import { howToBuild, nativeFile } from './native_files.ts';

import type { DmaFault, FaultRule, LinkImpairment, LinkImpairmentCounters } from './faults.ts';
import type { QueuePairFacts, RegionFacts, Watch, WatchKind } from './observation.ts';
import type { SysfsFunctionSetup, VfioFunctionSetup } from './pci/function_setup.ts';
import type { ServedBoard, ServedBoardOptions, ServedFacts } from './serving.ts';

// The native interface: the addon's exports with their units and errors. faults.ts, observation.ts, serving.ts and
// pci/function_setup.ts hold the rest of it. Offsets and lengths are in bytes. Offsets in a BAR are multiples of 4 and safe integers; 32-bit values are unsigned. Every call on a
// closed object throws an Error with the code ERR_CLOSED. A wrong argument throws a TypeError or RangeError that says what would be right.

/** The threads that advance a board: those that use it, its own thread, or a test that steps it. */
export type Progress = 'shared' | 'own' | 'stepped';

/** How stores to the prefetchable BAR become transactions: combined to 64 B, worst-case splits drawn from the seed, or 8 B each. */
export type CommandMapping = 'write_combining' | 'adversarial' | 'uncached';

/** Options of an emulated board. */
export interface BoardOptions {
  /** Boards with the same name are one board in the whole process, across worker threads. Without a name each board is separate. */
  name?: string;
  /** The threads that advance the board. Default shared. */
  progress?: Progress;
  /** CPU to which the board's own thread is pinned. Default: any CPU of the process. */
  deviceCpu?: number;
  /** Microseconds without work after which the board's own thread sleeps; new work wakes it. Default 2000. */
  sleepAfter?: number;
  /** Seed of adversarial write combining and of faults with a probability. Default 1. */
  seed?: number;
  /** How stores become transactions. Default write_combining. */
  mapping?: CommandMapping;
  /** The bridge in front of the board supports DWORD writes only. */
  doubleWordOnly?: boolean;
  /** The board sends an ACK for the last packet of a message and for packets that request one, not for every packet. Default true. */
  acknowledgeCoalescing?: boolean;
  /** Number of underlying functions, including the control function. 1 to 8, default 8. */
  underlyingFunctions?: number;
  /** Number of virtual collect buffers, each a page of the prefetchable BAR. From the number of functions to 256; default 256. */
  virtualCollectBuffers?: number;
  /** Physical collect buffers in the pool. 1 to 64, default 64. */
  physicalCollectBuffers?: number;
  /** Dedicated physical collect buffers: those for management, and at least one for the send queue scheduler. Up to 8, default 8. */
  dedicatedPhysicalCollectBuffers?: number;
  /** Number of dedicated physical collect buffers that serve management pages. 0 to 7, default 2. */
  managementPhysicalCollectBuffers?: number;
  /** Transmit virtual lanes. 1 to 64, default 64. */
  transmitVirtualLanes?: number;
  /** Execution credits that a lane owns. 0 to 31, default 2. */
  executionCreditsPerLane?: number;
  /** Completion credits that a lane owns. 0 to 31, default 4. */
  completionCreditsPerLane?: number;
  /** Execution credits that all lanes share. Default 64. */
  sharedExecutionCredits?: number;
  /** Completion credits that all lanes share. Default 256. */
  sharedCompletionCredits?: number;
  /** Maximum shared execution credits that a lane may hold. 0 to 127, default 16. */
  sharedExecutionCreditsCap?: number;
  /** Maximum shared completion credits that a lane may hold. 0 to 127, default 64. */
  sharedCompletionCreditsCap?: number;
  /** Queue pair contexts that the device caches; the others are in context memory. 2 to 65536, default 256. */
  queuePairContextsCached?: number;
  /** Queue pairs of all functions; 0 and 1 are reserved for management and general services. 3 to 65536, default 65536. */
  queuePairs?: number;
  /** Completion queues of all functions, including the reserved number 0. 2 to 4096, default 4096. */
  completionQueues?: number;
  /** Entries of the page tables of all memory regions, a power of two. 8 to 2^24, default 2^21. */
  pageTableEntries?: number;
  /** Entries of the key table, for memory regions and windows; the first is reserved. 2 to 2^24, default 65536. */
  memoryKeys?: number;
  /** Commands of a queue pair that the send queue scheduler fetches before it serves the next one. 1 to 256, default 4. */
  schedulerBatch?: number;
  /** Physical ports, 1 or 2. Default 1. */
  ports?: number;
  /** Link layer of the ports. Default ethernet: RoCEv2. */
  linkLayer?: 'ethernet' | 'infiniband';
  /** Name of a fabric: ports of all boards in the process with the same fabric are connected. Default: the ports are not connected. */
  fabric?: string;
  /**
   * The network of the first port.
   * `shm:NAME`: a cable between two processes of one user, through shared memory. The port is down until the other end is open.
   * `udp:ADDRESS`: RoCEv2 over a UDP socket on port 4791 of an IPv4 or IPv6 address of this machine (a link-local one with its interface,
   * as fe80::1%eth0). The address becomes the GID of function 0. Boards of one machine use 127.0.0.1, 127.0.0.2 and so on.
   * `ethernet:OWN,PEER[,vlan=NUMBER][,gateway=ADDRESS/BITS]`: Ethernet frames over Unix datagram sockets, OWN of this board and PEER of a
   * virtual machine's network card or another board. The board answers and sends ARP and neighbor discovery. With `vlan` all frames have
   * the tag of that virtual LAN. With `gateway` the board sends IPv4 packets through that router if the first BITS bits of their address
   * differ from the gateway's.
   * Default: the network that `fabric` names.
   */
  link?: string;
  /**
   * Board number, 0 to 1023, which determines the addresses of the ports. Default: the lowest free number in the fabric or at the link, or
   * 0 without one.
   */
  boardNumber?: number;
  /**
   * Probability, 0 to 1, that a packet to a port of the board is lost, from the seed. This and the next five options are a {@link
   * LinkImpairment} of all packets. Default 0.
   */
  linkLoss?: number;
  /** Probability, 0 to 1, that a packet is duplicated. Default 0. */
  linkDuplication?: number;
  /** Probability, 0 to 1, that a bit of a packet is flipped. Default 0. */
  linkCorruption?: number;
  /** Probability, 0 to 1, that later packets overtake a packet. Default 0. */
  linkReordering?: number;
  /** Latency of a packet in ticks of the device clock. Default 0. */
  linkDelay?: number;
  /** Bandwidth of the link in bits per second. Default 0: unlimited. */
  linkRate?: number;
  /**
   * Probability, 0 to 1, that the board flips a bit of a data unit in a linked list queue of the device whenever the device takes up work,
   * from the seed. The device corrects it. This and the next option are a {@link FaultRule} `flip_bits`. Default 0.
   */
  bitErrors?: number;
  /** The same for two bits of one word: the device detects it, and the queue pair is in error. Default 0. */
  doubleBitErrors?: number;
  /** Shortest time of a read of payload in host memory, in ticks of the device clock. Default 0: reads take no time. */
  dmaLatency?: number;
  /** Longest time of such a read; each has one from the seed. Default: as long as dmaLatency. */
  dmaLatencyMost?: number;
  /** File for the packets at the ports: {@link EmulatedBoard.startCapture}. */
  capture?: string;
  /** Scoreboard implementation. Default masked. */
  scoreboardVariant?: 'masked' | 'direct';
}

/** A PCIe transaction as it reached the device. */
export interface Transaction {
  /** A write, or a read with its answer. */
  kind: 'write' | 'read';
  /** Function that owns the BAR. */
  underlyingFunction: number;
  /** Number of the BAR. */
  bar: number;
  /** Offset in the BAR, a multiple of 4. */
  offset: number;
  /** Length, a multiple of 4 up to 64, within one aligned 64 B block. For a read 4: the answer is the data. */
  data: Uint8Array;
  /** Bit i: the transaction writes data[i]. */
  byteEnables: bigint;
  /** Device clock, ticks. */
  time: bigint;
}

/** A packet at a port, in wire format. */
export interface PortPacket {
  /** Direction. A packet to the port's own address goes out and comes in. */
  direction: 'in' | 'out';
  /** Port number, from 1. */
  port: number;
  /** Device clock, ticks. */
  time: bigint;
  /** From the first link byte to ICRC or VCRC. */
  data: Uint8Array;
}

/** A write transaction to inject into the link. */
export interface PostedWrite {
  /** Function that owns the BAR. Default 0. */
  underlyingFunction?: number;
  /** Number of the BAR. Default 0. */
  bar?: number;
  /** Offset in the BAR, a multiple of 4. Default 0. */
  offset?: number;
  /** The data: a multiple of 4 bytes, up to 64, within one aligned 64 B block. */
  data: Uint8Array;
  /** Bit i: the transaction writes data[i]. Default: all. */
  byteEnables?: bigint;
}

/** Counters of a board since its creation. */
export interface BoardCounters {
  /** Write transactions that reached the device. */
  writes: number;
  /** Reads that the device answered. */
  reads: number;
  /** Writes outside the regions of the function: unsupported requests, dropped. */
  writesUnsupported: number;
  /** Reads outside the regions of the function, answered by all ones. */
  readsUnsupported: number;
  /** DMA accesses that the IOMMU refused. */
  dmaFaults: number;
  /** Interrupts signaled. */
  interrupts: number;
  /** Interrupts that faults suppressed. */
  interruptsLost: number;
  /** Transactions that faults dropped completely. */
  writesLost: number;
  /** Transactions that did not fit into the recording. */
  traceDropped: number;
  /** Units of work of the device. */
  steps: number;
}

/** An emulated board: the device model behind BARs, an IOMMU and interrupts. */
export interface EmulatedBoard {
  /** Opens an underlying function; a function may be open more than once. Throws RangeError: no such function. */
  open(underlyingFunction: number): BoardFunction;
  /** Opens the lowest function, except the control function, that no thread has open. Undefined: there is none. */
  openFree(): BoardFunction | undefined;
  /**
   * Observes a function while others have it open. An observer can read registers, and write only the registers that select what to
   * inspect. The control function shows the activity of all functions. Throws RangeError: no such function.
   */
  observe(underlyingFunction: number): BoardFunction;
  /**
   * Lets other processes of this user open functions of the board through a socket at `path`. Throws an Error with the reason: the path is
   * in use, the board is stepped, or no function is left for clients.
   */
  serve(options: ServedBoardOptions): ServedBoard;
  /**
   * Injects one write into the link unchanged, without write combining. `data` is 4 to 64 B, a multiple of 4, within an aligned 64 B block;
   * byte enables may only omit bytes in the first and last DWORD.
   */
  post(write: PostedWrite): void;
  /**
   * Stepped: runs up to `count` ticks of work. In each tick every board of the fabric that has work does one unit: one block processes one
   * data unit. Returns the number done; if fewer, all boards are idle.
   */
  step(count: number): number;
  /**
   * Stepped: works until all boards are idle, at most `limit` units (default 1,000,000). Within one unit, a data unit passes through all
   * blocks whose input is empty. Throws when it reaches the limit.
   */
  runUntilIdle(limit?: number): number;
  /** Stepped: advances the clock by `ticks`; timers expire at their time. */
  advanceTime(ticks: number | bigint, limit?: number): void;
  /** Device clock, ticks. */
  now(): bigint;
  /** Adds a fault and returns its id. */
  inject(rule: FaultRule): number;
  /** Returns how often a fault has occurred. */
  injected(id: number): number;
  /** Removes one fault, or all, and releases the transactions that they hold back, in order. */
  clearFaults(id?: number): void;
  /** Adds a rule for packets on the way to its ports and returns its id. */
  impair(rule: LinkImpairment): number;
  /** Returns the counters of a rule. */
  impaired(id: number): LinkImpairmentCounters;
  /** Removes one rule, or all. Packets that they delay arrive at their time. */
  clearImpairments(id?: number): void;
  /**
   * Injects a packet into a port (default 1), as if from its link. `data` runs from the first link byte to the last check and need not be
   * valid. Throws RangeError: the port has no link, or the packet is longer than any packet can be.
   */
  arrive(packet: Uint8Array, port?: number): void;
  /**
   * Checks the device's consistency: either at any time, or when it is idle and no message is unfinished. Returns a description of the
   * first inconsistency, or undefined.
   */
  verify(atRest?: boolean): string | undefined;
  /** Starts to record the transactions that reach the device; up to `capacity` (default 65,536), the rest is counted. */
  startTrace(capacity?: number): void;
  stopTrace(): void;
  /** Returns and clears the recording. */
  takeTrace(): Transaction[];
  /** Stepped: replays transactions to the device at their times. Returns the number of reads whose answer differed. */
  replay(transactions: readonly Transaction[]): number;
  /** Starts to record the packets at the ports; up to `capacity` (default 4,096). */
  startPacketTrace(capacity?: number): void;
  stopPacketTrace(): void;
  /** Returns and clears the recorded packets. */
  takePackets(): PortPacket[];
  /** Writes the packets at the ports to a file, which it replaces. Throws an Error if it cannot open the file. */
  startCapture(path: string): void;
  /** Closes the file. Throws an Error if not all packets could be written. */
  stopCapture(): void;
  boardNumber(): number;
  /**
   * Makes `bytes` of a file, whole pages, the memory that a function reaches: another machine's memory, from DMA address 0 on, or where the
   * tables of that machine's IOMMU point. Throws an Error if the file cannot be mapped or memory is already mapped there; RangeError: no
   * such function.
   */
  attachMemory(underlyingFunction: number, path: string, bytes: number, remapping?: RemappingRoot): void;
  /** Removes that memory: DMA of the function no longer reaches it. */
  detachMemory(underlyingFunction: number): void;
  /** Returns and clears the DMA faults (the newest 1,024 are kept). */
  takeDmaFaults(): DmaFault[];
  counters(): BoardCounters;
  /** Closes this handle; the board closes with its last handle and function. */
  close(): void;
}

/** Facts about an open function that need no access to the device. */
export interface BoardFacts {
  /** Backend: `emu` (also for boards with blocks in RTL), `serve`, `pci` or `vfio`. */
  backend: string;
  /** The threads that advance the board; `own` if they are not those of this process. */
  progress: Progress;
  /** Source of the device clock. */
  clock: string;
  /** How the processor maps the prefetchable BAR. */
  mapping: 'write_combining' | 'uncached';
  /** Widest store that reaches the prefetchable BAR as one transaction. */
  storeBytes: number;
  /** The store that writes commands: a processor instruction, or messages to the model. */
  commandStore: string;
  /** Number of the function. */
  underlyingFunction: number;
  /** MSI-X vectors of the function. */
  interruptVectors: number;
}

/** Zeroed memory that the device reaches, in whole 4 KiB pages. */
export interface DmaMemory {
  /** The memory; free() detaches it, so that a late access throws. */
  readonly buffer: ArrayBuffer;
  /** Low 32 bits of its DMA address. */
  readonly addressLow: number;
  /** High 32 bits of its DMA address. */
  readonly addressHigh: number;
  /** Its DMA address, 64 bits. */
  readonly address: bigint;
  /** Unmaps and frees the memory. A second call has no effect. */
  free(): void;
}

/** Copies commands from a memory to the VCB region with one native call. */
export interface CommandWriter {
  /**
   * Copies `length` bytes at `sourceOffset` (a multiple of 8) of the memory to `vcbOffset` (a multiple of 64) of the BAR, and flushes.
   * `length` 4 to 320, a multiple of 4.
   */
  write(this: void, vcbOffset: number, sourceOffset: number, length: number): void;
  /** Number of this writer for {@link DirectCalls.writeCommand}. */
  readonly number: number;
  /** The calls for which {@link number} is valid. */
  readonly calls: DirectCalls;
}

/**
 * The native calls of the data path. They take no arguments, which makes them ten times cheaper than a method call with three arguments.
 * All boards and queues of a thread share the words in which arguments and results are passed.
 */
export interface DirectCalls {
  /** Argument words: number of a writer or function, offset in the BAR, offset in the memory, length. */
  readonly words: Uint32Array;
  /** Calls {@link CommandWriter.write} of the writer whose number is the first word. Throws as that does. */
  writeCommand(this: void): void;
  /** Calls {@link BoardFunction.advance} of the function whose number is the first word; sets that word to 1 or 0. */
  advance(this: void): void;
}

/**
 * Parameters of a doorbell probe: the commands that it posts, and where it detects the kick. No other code posts to the queue pair, and no
 * work request is outstanding. All fields but `cpu` and `timeout` are required.
 */
export interface DoorbellProbeSetup {
  virtualCollectBufferBar: number;
  /** Offset of the page for the command. */
  virtualCollectBufferOffset: number;
  /** Number of pages from there on that {@link DoorbellProbe.rate} writes to, at most the entries of the send queue. Default 1. */
  virtualCollectBuffers?: number;
  /** Bytes from one of these pages to the next. */
  virtualCollectBufferStride?: number;
  /**
   * Work queue entries. At `entryOffset`, a multiple of 64, is an encoded command of `commandBytes`, 64 to 320, signaled and without
   * checksum; the probe writes its sequence number. 320 B from the offset must be valid memory.
   */
  entryArea: DmaMemory;
  entryOffset: number;
  commandBytes: number;
  /** References of the send queue, log2 of their number, and the next sequence number. */
  references: DmaMemory;
  sendQueueLog2: number;
  firstSequenceNumber: number;
  /** Ring of kick records, enabled and empty, log2 of its size, and the host's head. */
  records: DmaMemory;
  recordsLog2: number;
  recordsHead: DmaMemory;
  /** Completion queue of the send queue, empty, log2 of its entries, and the host's head. */
  completions: DmaMemory;
  completionsLog2: number;
  completionsHead: DmaMemory;
  /** Offset of the device clock, and its frequency in hertz. */
  clockBar: number;
  clockOffset: number;
  clockFrequency: number;
  /** CPU to which the posting thread is pinned while it posts. Default: not pinned. */
  cpu?: number;
  /** Nanoseconds until a record or a completion must arrive. Default 10^9. */
  timeout?: number;
}

/** Nanoseconds per command, of a run of {@link DoorbellProbe.rate}. */
export interface DoorbellProbeRate {
  /** From the first store to the completion of the last command. */
  nanosecondsPerPost: number;
  /** Its stores and its share of the fences. */
  nanosecondsPerStore: number;
}

/** Result of a run of a doorbell probe: nanoseconds, one element for each post; empty without time stamps. */
export interface DoorbellProbeRun {
  /** Duration of the whole loop. */
  nanosecondsPerPost: number;
  /** Cost of reading the clock once; a post with time stamps reads it five times. */
  nanosecondsPerStamp: number;
  /** Error bound of the times that include the kick, which come from the device clock. */
  clockUncertainty: number;
  callToLastStore: Float64Array;
  fence: Float64Array;
  lastStoreToKick: Float64Array;
  /** By the device clock alone. */
  firstWriteToKick: Float64Array;
  kickToRecord: Float64Array;
  /** From the call; by the host clock alone. */
  postToCompletion: Float64Array;
  /** By the host clock alone. */
  lastStoreToRecord: Float64Array;
}

/**
 * Posts commands one at a time and takes time stamps along their path. It posts a command when the previous one has completed, so that any
 * send queue has room. Sequence numbers continue from run to run.
 */
export interface DoorbellProbe {
  /**
   * Posts `count` commands, at least one, and waits for each; looks for kick records all the time, or with the paced poller. Throws an
   * Error that names the command if its record or completion does not arrive in time, belongs to another command, or reports a failure; the
   * probe is then unusable. RangeError: the thread may not run on `cpu`; ERR_CLOSED: the function is closed, or a memory freed.
   */
  run(count: number, stamped: boolean, looksAllTheTime?: boolean): DoorbellProbeRun;
  /**
   * Posts `count` commands or somewhat more, one to each virtual collect buffer of the setup, with a fence behind each `commandsPerFence` of
   * them and behind the last, and waits for their completions before the next. Kick records are not read: {@link run} does not work
   * afterwards. Throws as {@link run}.
   */
  rate(count: number, commandsPerFence: number): DoorbellProbeRate;
}

/**
 * A subscription to an MSI-X vector. While referenced, it keeps the process and itself alive; otherwise it ends when its object is
 * garbage-collected. A new subscription is unreferenced.
 */
export interface Interrupt {
  /** Keeps the process alive from now on. */
  ref(): void;
  /** Does not keep the process alive from now on. */
  unref(): void;
  /** Ends the subscription: the callback is not called again. A second call has no effect. */
  close(): void;
}

/** Location of a function's tables in a machine's memory, for the machine's IOMMU (VT-d in legacy mode). */
export interface RemappingRoot {
  /** Physical address of the root table, whole pages. */
  rootTable: bigint;
  /** PCI requester ID of the function: bus 15:8, device 7:3, function 2:0. */
  sourceId: number;
}

/** An open underlying function of a board. */
export interface BoardFunction {
  /** Reads a register. The read flushes all earlier writes. All ones: unsupported, or the device is gone. */
  read32(bar: number, offset: number): number;
  /** Posts a 32-bit write. It reaches the device later, in the order of writes to this BAR. */
  write32(bar: number, offset: number, value: number): void;
  /** Posts a 64-bit write given in two halves, as one transaction if the bridge in front of the board supports that. */
  write64(bar: number, offset: number, low: number, high: number): void;
  /** Orders stores: those before it reach the device before those after it. */
  fence(): void;
  /** Runs the device if polling drives it; false: the device is idle or runs on its own. */
  advance(): boolean;
  /** Stepped board: advances time until its devices have something to do next, if they have nothing to do now. Other boards: does nothing. */
  letTimePass(): void;
  /** Number of this function for {@link DirectCalls.advance}. */
  readonly number: number;
  /** The calls for which {@link number} is valid. */
  readonly calls: DirectCalls;
  /** Allocates memory. Throws an Error with the code ENOMEM: no memory or no DMA address is left; RangeError: bytes. */
  allocateMemory(bytes: number): DmaMemory;
  /**
   * Maps the caller's memory, keeps it until unmap, and returns its DMA address. Throws TypeError for resizable, detached or empty memory;
   * an Error with the code ENOMEM: no DMA address is left, or ENOTSUP: the function cannot reach such memory. Rights of the device: default
   * read and write.
   */
  map(memory: ArrayBuffer | ArrayBufferView, rights?: 'read' | 'write' | 'read_write'): bigint;
  /** Removes a mapping of map(). Throws if there is none at this address. */
  unmap(address: bigint): void;
  /** Makes a command writer. `vcbBar`: the BAR of the writer's offsets. */
  commandWriter(memory: DmaMemory, vcbBar: number): CommandWriter;
  /** Makes a probe of doorbell latency on this function. */
  doorbellProbe(setup: DoorbellProbeSetup): DoorbellProbe;
  /** Calls back from the event loop after vector `vector` was signaled, with the number of signals since the last call. */
  interrupt(vector: number, callback: (count: number) => void): Interrupt;
  /**
   * Calls back once from the event loop when the device is gone or the kernel requests it back. The reason, if the backend knows it,
   * completes the sentence "the device is gone: ". After the callback the function is released: the kernel can remove it, registers read as
   * all ones, memory stays. Returns undefined if the backend cannot detect this; then only a read shows it.
   */
  removal(callback: (reason?: string) => void): Interrupt | undefined;
  /**
   * For an observed function: starts to watch its activity; the control function watches all functions. One watch of each kind. Throws an
   * Error with the code ENOTSUP: the function is open instead, its backend has no observers, or packets of a function other than the
   * control function were requested.
   */
  watch(kind: WatchKind): Watch;
  /**
   * For an observed function: accesses several registers of a BAR in order, at the cost of one access. Each access is two words: the
   * offset, plus 1 for a write, and the value, which a read fills in as {@link read32} returns it. Throws as {@link watch}.
   */
  access(bar: number, accesses: Uint32Array): void;
  /** For an observed function: returns its queue pairs, for the control function those of all functions. Throws as {@link watch}. */
  queuePairs(): QueuePairFacts[];
  /** For an observed function: returns its memory regions and windows. Throws as {@link watch}. */
  regions(): RegionFacts[];
  /**
   * Serves the observation of this open function to other processes at `path`: of all functions where it is the control function. An
   * emulated board hands it out itself. On another backend, or with `throughDevice`, it comes by the function's ring of kick records, its
   * last event queue and management commands; {@link executeManagement} then carries out the commands of the function's driver, from
   * the first call on. Throws an Error with the code EINVAL: no socket can be made there; ENOMEM: no memory; ENOTSUP: a served board.
   */
  shareObservation(options: {
    path: string;
    /** Number of this function. */
    underlyingFunction: number;
    throughDevice?: boolean;
  }): ServedBoard & { readonly throughDevice: boolean };
  /**
   * Carries out a management command of which opcode, input modifier and mailboxes are given, and returns its completion; undefined: the
   * device is gone, or has not answered in ten seconds. Only after {@link shareObservation}.
   */
  executeManagement(command: Uint8Array): Uint8Array | undefined;
  /** Returns facts about the function without an access to the device. */
  facts(): BoardFacts;
  /**
   * Closes the function and frees its allocations and mappings, as does garbage collection of its object or the end of its thread. The
   * device resets the function when no process has it open any more.
   */
  close(): void;
}

/** Exports of the addon. */
export interface Addon {
  readonly version: string;
  /** Maps a PCI function. Throws an Error with `errno` if a file cannot be opened, mapped or locked. */
  openSysfsFunction(setup: SysfsFunctionSetup): BoardFunction;
  /** Opens a PCI function's group and maps it. Throws an Error with `errno` if VFIO or the system refuses. */
  openVfioFunction(setup: VfioFunctionSetup): BoardFunction;
  /** Returns the stores for commands that this processor supports, widest first. */
  commandStores(): string[];
  EmulatedBoard: new (options?: BoardOptions) => EmulatedBoard;
  /**
   * Opens a function of a board that another process serves at `path`; without a number, the lowest free one. Throws an Error with the code
   * ENODEV: no server serves a board there; EBUSY: the function, or every one, is open; EINVAL: the function is not for clients.
   * @param beside observe the function as {@link EmulatedBoard.observe} does, without opening it; also allows the server's own functions
   */
  openServed(path: string, underlyingFunction?: number, beside?: boolean): BoardFunction;
  /** Returns the board served at each path; undefined: none. All servers are queried at once, within `milliseconds` together. */
  lookAtServed(paths: readonly string[], milliseconds: number): (ServedFacts | undefined)[];
  /**
   * Ends the process within `milliseconds` of a first SIGINT or SIGTERM, whatever its threads do, and at once on a second signal, unless
   * the process ends by itself; with `lastWords` on standard error and `exitCode`. A command calls it after it has installed its own
   * handlers.
   */
  promisePromptEnd(milliseconds: number, lastWords: string, exitCode: number): void;
  /** Measures round trips of one cache line between two threads, nanoseconds each; CPUs < 0: not pinned. */
  cacheLineRoundTrip(iterations: number, cpu: number, otherCpu: number): Float64Array;
}

/**
 * Loads the addon: the one that FPGA_VERBS_ADDON names (sanitizers, mutants), otherwise the one that `nativeFile` finds.
 * @throws Error: it is missing, or this machine cannot load it; the message says how to build it
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
