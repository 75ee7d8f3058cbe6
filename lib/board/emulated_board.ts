import {
  loadAddon,
  type BoardCounters,
  type BoardFunction,
  type BoardOptions,
  type PortPacket,
  type PostedWrite,
  type RemappingRoot,
  type EmulatedBoard as NativeBoard,
  type Transaction,
} from './addon.ts';
import type { DmaFault, FaultRule, LinkImpairment, LinkImpairmentCounters } from './faults.ts';
import type { Recording } from './recording.ts';
import { readRegions, type Region } from './regions.ts';
import type { ServedBoard, ServedBoardOptions } from './serving.ts';
import { describeTransaction } from './transaction_text.ts';

/** A fault that was put into a board. */
export interface InjectedFault {
  /** How often it has happened. */
  readonly happened: number;
  /** Takes it back; what it holds back is released in order. */
  remove(): void;
}

/** An impairment of packets on their way to a board, or to several. */
export interface InjectedImpairment {
  /** How often it has happened. */
  readonly counters: LinkImpairmentCounters;
  /** Takes it back; what it keeps back arrives in its time. */
  remove(): void;
}

/**
 * An emulated board: the device model behind BARs, an IOMMU and interrupts, in this process. A driver cannot tell it from
 * hardware; a test sees every transaction that reaches its device, and puts faults between the two.
 *
 * With progress `stepped` nothing happens unless it is asked for, in virtual time, so that what a test saw happens again.
 *
 * ```ts
 * using board = new EmulatedBoard({ progress: 'stepped', seed: 7 });
 * const fault = board.inject({ kind: 'drop', bar: 2, nth: 3 });
 * ```
 */
export class EmulatedBoard {
  /** Options that it was made with. */
  readonly options: BoardOptions;
  private readonly native: NativeBoard;
  private regionTable: readonly Region[] | undefined;

  /**
   * Makes a board; boards of one name are one board in the whole process.
   * @throws RangeError, TypeError: an option is wrong; Error: a board of this name has other options
   */
  constructor(options: BoardOptions = {}) {
    this.options = { ...options };
    this.native = new (loadAddon().EmulatedBoard)(options);
  }

  /** Opens an underlying function: what a driver takes. @throws RangeError: the board has no such function */
  open(underlyingFunction = 0): BoardFunction {
    return this.native.open(underlyingFunction);
  }

  /**
   * Observes a function beside those that have it open, the control function for all: registers can be read, and what the functions do is
   * watched. It opens no function and changes nothing. @throws RangeError: the board has no such function
   */
  observe(underlyingFunction = 0): BoardFunction {
    return this.native.observe(underlyingFunction);
  }

  /**
   * Lets other processes of this user open functions of the board, by device strings `serve:PATH/UF`. Function 0 remains here: its
   * driver gives the device its memory, before any client comes.
   * @throws Error why it cannot be served: the path is in use, the board is stepped, no function is left for clients
   */
  serve(options: ServedBoardOptions): ServedBoard {
    return this.native.serve(options);
  }

  /** The regions of its BARs. */
  get regions(): readonly Region[] {
    if (this.regionTable === undefined) {
      const opened = this.native.open(0);
      this.regionTable = readRegions(opened);
      opened.close();
    }
    return this.regionTable;
  }

  /**
   * Makes a file of `bytes`, whole pages, what an underlying function reaches: the memory of another machine, from DMA address 0 on.
   * @param remapping its IOMMU, whose tables say where instead
   * @throws Error: it cannot be mapped, or something is there; RangeError: the board has no such function
   */
  attachMemory(underlyingFunction: number, path: string, bytes: number, remapping?: RemappingRoot): void {
    this.native.attachMemory(underlyingFunction, path, bytes, remapping);
  }

  /** No DMA of the function reaches it from now on. */
  detachMemory(underlyingFunction: number): void {
    this.native.detachMemory(underlyingFunction);
  }

  /** Puts one write into the link, whatever a processor's stores would make of it. */
  post(write: PostedWrite): void {
    this.native.post(write);
  }

  /**
   * Stepped: does up to `count` ticks of work, with a unit of it from each board of its fabric that has any: a write that has arrived, or
   * one data unit in one block. Gives the number done; fewer: all are idle.
   */
  step(count = 1): number {
    return this.native.step(count);
  }

  /**
   * Stepped: works until nothing is left. As on boards that are not stepped, and in advanceTime(), a data unit goes on through the blocks
   * within one unit of work, as far as nothing is before it. @throws Error: more than `limit` units of work
   */
  runUntilIdle(limit?: number): number {
    return this.native.runUntilIdle(limit);
  }

  /**
   * Stepped: lets the clock go on by so many ticks; what becomes due happens at its time.
   * @param limit units of work, and waits between them, after which it gives up: where something is tried again without end, the clock
   * gets there no sooner than with each trial done. Default ten million, some seconds
   * @throws RangeError the clock would go beyond 2^63 - 1; Error: more than `limit` units of work, and the clock stays where they ended
   */
  advanceTime(ticks: number | bigint, limit?: number): void {
    this.native.advanceTime(ticks, limit);
  }

  /** Device clock, ticks. */
  now(): bigint {
    return this.native.now();
  }

  /**
   * Puts a fault between driver and device: a write dropped, torn, delayed or reordered, reads that answer all ones, an
   * interrupt lost, a DMA refused. Offsets of a virtual collect buffer or a register page: {@link regions}.
   */
  inject(rule: FaultRule): InjectedFault {
    const { native } = this;
    const id = native.inject(rule);
    return {
      get happened() {
        return native.injected(id);
      },
      remove: () => native.clearFaults(id),
    };
  }

  /** Takes back all faults; what they hold back is released in order. */
  clearFaults(): void {
    this.native.clearFaults();
  }

  /**
   * Loses, delays, doubles, reorders or damages packets on their way to its ports, from its seed: with stepped progress the same
   * each time. Packets that loop back inside a port stay whole.
   */
  impair(rule: LinkImpairment): InjectedImpairment {
    const { native } = this;
    const id = native.impair(rule);
    return {
      get counters() {
        return native.impaired(id);
      },
      remove: () => native.clearImpairments(id),
    };
  }

  /** Takes back all impairments; what they keep back arrives in its time. */
  clearImpairments(): void {
    this.native.clearImpairments();
  }

  /**
   * A packet comes to a port, as if from its link: from its first link byte to its last check, whatever it says.
   * @throws RangeError nothing is attached to the port, or it is longer than any packet
   */
  arrive(packet: Uint8Array, port = 1): void {
    this.native.arrive(packet, port);
  }

  /**
   * An inconsistency in its device, of credits, buffers, lists or tables. Undefined: none.
   * @param atRest the device is idle and no message is unfinished, so that nothing may be held
   */
  verify(atRest = false): string | undefined {
    return this.native.verify(atRest);
  }

  /** Begins to record the transactions that reach the device. @param capacity beyond, they are counted, not kept */
  startRecording(capacity?: number): void {
    this.native.startTrace(capacity);
  }

  /** Takes out what was recorded since the start or the last call. */
  takeTransactions(): Transaction[] {
    return this.native.takeTrace();
  }

  /** Ends the recording; what was not taken yet. */
  stopRecording(): Recording {
    this.native.stopTrace();
    return { options: this.options, transactions: this.native.takeTrace() };
  }

  /** Stepped: plays transactions to the device at their times. Gives the number of reads whose answer differed. */
  replay(transactions: readonly Transaction[]): number {
    return this.native.replay(transactions);
  }

  /** The addresses of its ports follow from it; boards of a fabric have different ones. */
  get boardNumber(): number {
    return this.native.boardNumber();
  }

  /** Begins to record the packets at its ports. @param capacity beyond, they are left out */
  startPacketTrace(capacity?: number): void {
    this.native.startPacketTrace(capacity);
  }

  /** Takes out the packets that were recorded since the start or the last call. */
  takePackets(): PortPacket[] {
    return this.native.takePackets();
  }

  /** Ends the recording of packets; what was not taken yet. */
  stopPacketTrace(): PortPacket[] {
    this.native.stopPacketTrace();
    return this.native.takePackets();
  }

  /**
   * Begins to write the packets at its ports to a file that Wireshark reads (pcapng): an interface for each port, and the command
   * that caused a packet as its comment. Times are those of the day, or of the virtual clock of a stepped board.
   * @throws Error the file cannot be opened
   */
  startCapture(path: string): void {
    this.native.startCapture(path);
  }

  /** Ends the file. @throws Error not all could be written */
  stopCapture(): void {
    this.native.stopCapture();
  }

  /** A transaction in words. */
  describe(transaction: Transaction): string {
    return describeTransaction(transaction, this.regions);
  }

  /** Takes out the DMAs of the device that the IOMMU refused (the newest 1,024 are kept). */
  takeDmaFaults(): DmaFault[] {
    return this.native.takeDmaFaults();
  }

  /** Numbers of transactions, DMAs, interrupts and units of work since the board was made. */
  counters(): BoardCounters {
    return this.native.counters();
  }

  /** Gives the board up; it goes with the last function that is open. Twice is once. */
  close(): void {
    this.native.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
