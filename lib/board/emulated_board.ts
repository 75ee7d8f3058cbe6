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

/** A fault injected into a board. */
export interface InjectedFault {
  /** How often the fault has occurred. */
  readonly happened: number;
  /** Removes the fault and releases the transactions that it holds back, in order. */
  remove(): void;
}

/** An impairment of packets on the way to one board or several. */
export interface InjectedImpairment {
  /** How often the impairment has occurred. */
  readonly counters: LinkImpairmentCounters;
  /** Removes the impairment. Packets that it delays arrive at their time. */
  remove(): void;
}

/**
 * An emulated board: the device model behind BARs, an IOMMU and interrupts, in this process. A driver cannot distinguish it from hardware.
 * A test sees every transaction that reaches the device, and can inject faults between driver and device.
 *
 * With progress `stepped` the board acts only when it is stepped, in virtual time, so that every run is reproducible.
 *
 * ```ts
 * using board = new EmulatedBoard({ progress: 'stepped', seed: 7 });
 * const fault = board.inject({ kind: 'drop', bar: 2, nth: 3 });
 * ```
 */
export class EmulatedBoard {
  /** Options that it was created with. */
  readonly options: BoardOptions;
  private readonly native: NativeBoard;
  private regionTable: readonly Region[] | undefined;

  /**
   * Creates a board; boards with the same name are one board in the whole process.
   * @throws RangeError, TypeError: an invalid option; Error: a board of this name has other options
   */
  constructor(options: BoardOptions = {}) {
    this.options = { ...options };
    this.native = new (loadAddon().EmulatedBoard)(options);
  }

  /** Opens an underlying function for a driver. @throws RangeError: the board has no such function */
  open(underlyingFunction = 0): BoardFunction {
    return this.native.open(underlyingFunction);
  }

  /**
   * Observes a function while others have it open; the control function shows all functions. An observer reads registers and watches the
   * activity of the functions. It opens no function and changes nothing. @throws RangeError: the board has no such function
   */
  observe(underlyingFunction = 0): BoardFunction {
    return this.native.observe(underlyingFunction);
  }

  /**
   * Lets other processes of this user open functions of the board with device strings `serve:PATH/UF`. Function 0 remains in this process:
   * its driver must give the device its memory before a client connects.
   * @throws Error with the reason: the path is in use, the board is stepped, or no function is left for clients
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
   * Makes `bytes` of a file, whole pages, the memory that an underlying function reaches: another machine's memory, from DMA address 0 on.
   * @param remapping the machine's IOMMU, whose tables translate the addresses
   * @throws Error: the file cannot be mapped, or memory is already mapped there; RangeError: the board has no such function
   */
  attachMemory(underlyingFunction: number, path: string, bytes: number, remapping?: RemappingRoot): void {
    this.native.attachMemory(underlyingFunction, path, bytes, remapping);
  }

  /** Removes that memory: DMA of the function no longer reaches it. */
  detachMemory(underlyingFunction: number): void {
    this.native.detachMemory(underlyingFunction);
  }

  /** Injects one write into the link unchanged, without write combining. */
  post(write: PostedWrite): void {
    this.native.post(write);
  }

  /**
   * Stepped: runs up to `count` ticks of work. In each tick every board of its fabric that has work does one unit: it takes a write that has
   * arrived, or one block processes one data unit. Returns the number done; if fewer, all boards are idle.
   */
  step(count = 1): number {
    return this.native.step(count);
  }

  /**
   * Stepped: works until all boards are idle. As on boards that are not stepped, and in advanceTime(), a data unit passes within one unit of
   * work through all blocks whose input is empty. @throws Error: more than `limit` units of work
   */
  runUntilIdle(limit?: number): number {
    return this.native.runUntilIdle(limit);
  }

  /**
   * Stepped: advances the clock by `ticks`; timers expire at their time.
   * @param limit maximum units of work and waits between them. Without a limit, work that repeats forever would never let the clock arrive.
   * Default ten million, some seconds
   * @throws RangeError the clock would exceed 2^63 - 1; Error: more than `limit` units of work, with the clock stopped at that point
   */
  advanceTime(ticks: number | bigint, limit?: number): void {
    this.native.advanceTime(ticks, limit);
  }

  /** Device clock, ticks. */
  now(): bigint {
    return this.native.now();
  }

  /**
   * Injects a fault between driver and device: drops, tears, delays or reorders a write, answers reads with all ones, loses an interrupt,
   * or refuses a DMA. {@link regions} gives the offsets of virtual collect buffers and register pages.
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

  /** Removes all faults and releases the transactions that they hold back, in order. */
  clearFaults(): void {
    this.native.clearFaults();
  }

  /**
   * Loses, delays, duplicates, reorders or damages packets on the way to its ports, from its seed: reproducibly with stepped progress.
   * Packets that a port loops back are not affected.
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

  /** Removes all impairments. Packets that they delay arrive at their time. */
  clearImpairments(): void {
    this.native.clearImpairments();
  }

  /**
   * Injects a packet into a port, as if from its link. The packet runs from its first link byte to its last check and need not be valid.
   * @throws RangeError the port has no link, or the packet is longer than any packet can be
   */
  arrive(packet: Uint8Array, port = 1): void {
    this.native.arrive(packet, port);
  }

  /**
   * Checks the consistency of the device's credits, buffers, lists and tables. Returns a description of the first inconsistency, or
   * undefined.
   * @param atRest the device is idle and no message is unfinished, so that no credit or buffer may be in use
   */
  verify(atRest = false): string | undefined {
    return this.native.verify(atRest);
  }

  /** Starts to record the transactions that reach the device. @param capacity beyond it, transactions are only counted */
  startRecording(capacity?: number): void {
    this.native.startTrace(capacity);
  }

  /** Returns and clears the recording. */
  takeTransactions(): Transaction[] {
    return this.native.takeTrace();
  }

  /** Stops the recording and returns the rest of it. */
  stopRecording(): Recording {
    this.native.stopTrace();
    return { options: this.options, transactions: this.native.takeTrace() };
  }

  /** Stepped: replays transactions to the device at their times. Returns the number of reads whose answer differed. */
  replay(transactions: readonly Transaction[]): number {
    return this.native.replay(transactions);
  }

  /** Board number, which determines the addresses of its ports; boards of a fabric have different ones. */
  get boardNumber(): number {
    return this.native.boardNumber();
  }

  /** Starts to record the packets at its ports. @param capacity beyond it, packets are discarded */
  startPacketTrace(capacity?: number): void {
    this.native.startPacketTrace(capacity);
  }

  /** Returns and clears the recorded packets. */
  takePackets(): PortPacket[] {
    return this.native.takePackets();
  }

  /** Stops the packet recording and returns the rest of it. */
  stopPacketTrace(): PortPacket[] {
    this.native.stopPacketTrace();
    return this.native.takePackets();
  }

  /**
   * Starts to write the packets at its ports to a pcapng file for Wireshark: one interface per port, with the command that caused a packet
   * as its comment. Times are wall-clock times, or virtual times of a stepped board.
   * @throws Error the file cannot be opened
   */
  startCapture(path: string): void {
    this.native.startCapture(path);
  }

  /** Closes the file. @throws Error not all packets could be written */
  stopCapture(): void {
    this.native.stopCapture();
  }

  /** Formats a transaction as text. */
  describe(transaction: Transaction): string {
    return describeTransaction(transaction, this.regions);
  }

  /** Returns and clears the DMAs of the device that the IOMMU refused (the newest 1,024 are kept). */
  takeDmaFaults(): DmaFault[] {
    return this.native.takeDmaFaults();
  }

  /** Numbers of transactions, DMAs, interrupts and units of work since the board was created. */
  counters(): BoardCounters {
    return this.native.counters();
  }

  /** Closes this handle; the board closes with its last open function. A second call has no effect. */
  close(): void {
    this.native.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
