import { createRequire } from 'node:module';

import { howToBuild, nativeFile } from './native_files.ts';

import type { DmaFault, FaultRule, LinkImpairment, LinkImpairmentCounters } from './faults.ts';
import type { QueuePairFacts, RegionFacts, Watch, WatchKind } from './observation.ts';
import type { ServedBoard, ServedBoardOptions, ServedFacts } from './serving.ts';

// The native surface, with faults.ts, observation.ts and serving.ts the whole of it: what the addon exports, with units and errors. Offsets and lengths are bytes; offsets in
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
  /** Underlying functions: the control function, and those for applications. 1 to 8, default 8. */
  underlyingFunctions?: number;
  /** Virtual collect buffers, a page of the prefetchable BAR each. As many as functions, to 256; default 256. */
  virtualCollectBuffers?: number;
  /** Physical collect buffers in the pool. 1 to 64, default 64. */
  physicalCollectBuffers?: number;
  /** Dedicated physical collect buffers: those for management, and at least one for the send queue scheduler. To 8, default 8. */
  dedicatedPhysicalCollectBuffers?: number;
  /** Those of the dedicated ones that serve management pages. 0 to 7, default 2. */
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
  /** Most shared execution credits that a lane may hold. 0 to 127, default 16. */
  sharedExecutionCreditsCap?: number;
  /** Most shared completion credits that a lane may hold. 0 to 127, default 64. */
  sharedCompletionCreditsCap?: number;
  /** Queue pair contexts that the device caches; the others lie in context memory. 2 to 65536, default 256. */
  queuePairContextsCached?: number;
  /** Queue pairs of all functions; 0 and 1 are for management and general services. 3 to 65536, default 65536. */
  queuePairs?: number;
  /** Completion queues of all functions; number 0, which names none, is one of them. 2 to 4096, default 4096. */
  completionQueues?: number;
  /** Entries of the page tables of all memory regions, a power of two. 8 to 2^24, default 2^21. */
  pageTableEntries?: number;
  /** Entries of the key table, for memory regions and windows; the first is not used. 2 to 2^24, default 65536. */
  memoryKeys?: number;
  /** Commands of a queue pair that the send queue scheduler fetches before it serves the next one. 1 to 256, default 4. */
  schedulerBatch?: number;
  /** Physical ports, 1 or 2. Default 1. */
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
   * Probability, 0 to 1, that a packet on its way to a port of the board is lost, from the seed: this and the five below are a
   * {@link LinkImpairment} of all packets. Default 0.
   */
  linkLoss?: number;
  /** Probability, 0 to 1, that a packet comes twice. Default 0. */
  linkDuplication?: number;
  /** Probability, 0 to 1, that a bit of a packet is turned. Default 0. */
  linkCorruption?: number;
  /** Probability, 0 to 1, that later packets overtake one. Default 0. */
  linkReordering?: number;
  /** Ticks of the device clock that a packet is on its way. Default 0. */
  linkDelay?: number;
  /** Bits a second that the link carries. Default 0: any number. */
  linkRate?: number;
  /** File to which the packets at its ports are written: {@link EmulatedBoard.startCapture}. */
  capture?: string;
  /** How scoreboards are kept. Default masked. */
  scoreboardVariant?: 'masked' | 'direct';
}

/** A PCIe transaction as it reached the device. */
export interface Transaction {
  /** A write, or a read with its answer. */
  kind: 'write' | 'read';
  /** Function whose BAR it is. */
  underlyingFunction: number;
  /** Number of the BAR. */
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
  /** A multiple of 4 bytes, up to 64, within one aligned 64 B. */
  data: Uint8Array;
  /** Bit i: data[i] is written. Default: all. */
  byteEnables?: bigint;
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
  /** Interrupts that were signaled. */
  interrupts: number;
  /** Interrupts that faults took away. */
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

/** Facts on an open function that are known without asking the device. */
export interface BoardFacts {
  /** Backend: `emu`, of boards with blocks in RTL too, `serve`, `pci` or `vfio`. */
  backend: string;
  /** How the board advances; `own` where the threads of this process do not advance it. */
  progress: Progress;
  /** Where the device clock comes from. */
  clock: string;
  /** How the processor maps the prefetchable BAR. */
  mapping: 'write_combining' | 'uncached';
  /** Widest store that reaches the prefetchable BAR as one transaction. */
  storeBytes: number;
  /** The store that writes commands: an instruction of the processor, or messages to the model. */
  commandStore: string;
  /** Number of the function. */
  underlyingFunction: number;
  /** MSI-X vectors of the function. */
  interruptVectors: number;
}

/** Memory that the device reaches, zeroed, of whole 4 KiB pages. */
export interface DmaMemory {
  /** The memory; detached by free(), so that a late access throws. */
  readonly buffer: ArrayBuffer;
  /** Low 32 bits of its DMA address. */
  readonly addressLow: number;
  /** High 32 bits of its DMA address. */
  readonly addressHigh: number;
  /** Its DMA address, whole. */
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
  /** The calls that {@link number} is for. */
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
  /** It keeps the process alive from now on. */
  ref(): void;
  /** It does not keep the process alive from now on. */
  unref(): void;
  /** Ends it: the callback is not called any more. Twice is once. */
  close(): void;
}

/** Where a machine's IOMMU (VT-d in legacy mode) finds a function's tables, in that machine's memory. */
export interface RemappingRoot {
  /** Physical address of the root table, whole pages. */
  rootTable: bigint;
  /** Of the function: bus 15:8, device 7:3, function 2:0. */
  sourceId: number;
}

/** An open underlying function of a board. */
export interface BoardFunction {
  /** A read flushes all writes before it. All ones: no access, or the device is gone. */
  read32(bar: number, offset: number): number;
  /** A posted write of 32 bits: it comes to the device later, in the order of writes to this BAR. */
  write32(bar: number, offset: number, value: number): void;
  /** The same of 64 bits in two halves, in one transaction where the bridge before the board makes such. */
  write64(bar: number, offset: number, low: number, high: number): void;
  /** Stores before it reach the device before stores after it. */
  fence(): void;
  /** Lets the device work where polling drives it; false: it has nothing to do, or works on its own. */
  advance(): boolean;
  /** Of a stepped board: until its devices have something to do next, if they have nothing to do now. Of others nothing. */
  letTimePass(): void;
  /** Its number for {@link DirectCalls.advance}. */
  readonly number: number;
  /** The calls that {@link number} is for. */
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
  /**
   * Of a function that is observed: accesses to registers of a BAR in their order, at the cost of one. Each is two words: the offset,
   * plus 1 for a write, and the value, which a read fills in as {@link read32} gives it. Throws as {@link watch}.
   */
  access(bar: number, accesses: Uint32Array): void;
  /** Of a function that is observed: the queue pairs that exist, of the control function those of all functions. Throws as {@link watch}. */
  queuePairs(): QueuePairFacts[];
  /** The same of memory regions and windows. */
  regions(): RegionFacts[];
  /** Facts on the function; the device is not asked. */
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
