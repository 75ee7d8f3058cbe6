import type { BoardFunction } from '../board/addon.ts';
import { IDENTITY_BAR } from '../board/regions.ts';
import { IDENTITY_MAGIC_OFFSET } from '../spec/index.ts';
import { deviceGone } from './errors.ts';
import type { DeviceLoss } from './device_loss.ts';

const allOnes = 0xffff_ffff;

/** One of a row of accesses to registers of a page. */
export interface RegisterAccess {
  readonly offset: number;
  /** None: it is read. */
  readonly write?: number;
}

/** A page of registers of an open function. Offsets are those of the generated constants. */
export class RegisterPage {
  private readonly board: BoardFunction;
  private readonly bar: number;
  private readonly base: number;
  private readonly loss: DeviceLoss;
  /** An open function has no other way than one access after the other. */
  private isObserved = true;

  /**
   * @param loss gets the report of a read that returns all ones
   * @param bar number of the BAR that contains the page, at `base` bytes
   */
  constructor(board: BoardFunction, loss: DeviceLoss, bar: number, base: number) {
    this.board = board;
    this.loss = loss;
    this.bar = bar;
    this.base = base;
  }

  /**
   * A register of 32 bits, unsigned. All writes before it have reached the device.
   * @throws VerbsError ENODEV: the device is gone
   */
  read32(offset: number): number {
    const value = this.board.read32(this.bar, this.base + offset);
    if (value === allOnes && this.board.read32(IDENTITY_BAR, IDENTITY_MAGIC_OFFSET) === allOnes) {
      const gone = deviceGone('readRegister');
      this.loss.report(gone);
      throw gone;
    }
    return value;
  }

  /** Where a register lies: for native code that reads it itself. */
  place(offset: number): { readonly bar: number; readonly offset: number } {
    return { bar: this.bar, offset: this.base + offset };
  }

  /** A register of 64 bits: reading its low half latches the high one. */
  read64(offset: number): bigint {
    const low = this.read32(offset);
    return (BigInt(this.read32(offset + 4)) << 32n) | BigInt(low);
  }

  /**
   * Registers of 32 bits that are read and written in a row: of an observer at the cost of one.
   * @returns values of the reads, unsigned
   * @throws VerbsError ENODEV: the device is gone
   */
  access(row: readonly RegisterAccess[]): number[] {
    const words = this.isObserved ? this.accessAtOnce(row) : undefined;
    if (words === undefined) return this.accessInTurn(row);
    const values = row.flatMap(({ write }, index) => (write === undefined ? [words[2 * index + 1]!] : []));
    if (values.includes(allOnes)) this.read32(0); // finds out whether the device is gone
    return values;
  }

  write32(offset: number, value: number): void {
    this.board.write32(this.bar, this.base + offset, value);
  }

  /** One store of 8 B. */
  write64(offset: number, value: bigint): void {
    this.writeHalves(offset, Number(value & 0xffff_ffffn), Number(value >> 32n));
  }

  /** One store of 8 B, given as two unsigned halves. */
  writeHalves(offset: number, low: number, high: number): void {
    this.board.write64(this.bar, this.base + offset, low, high);
  }

  /** Undefined: it is no observer's. */
  private accessAtOnce(row: readonly RegisterAccess[]): Uint32Array | undefined {
    const words = Uint32Array.from(
      row.flatMap(({ offset, write }) => [this.base + offset + (write === undefined ? 0 : 1), write ?? 0]),
    );
    try {
      this.board.access(this.bar, words);
      return words;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOTSUP') throw error;
      this.isObserved = false;
      return undefined;
    }
  }

  private accessInTurn(row: readonly RegisterAccess[]): number[] {
    return row.flatMap(({ offset, write }) => {
      if (write === undefined) return [this.read32(offset)];
      this.write32(offset, write);
      return [];
    });
  }
}
