import type { BoardFunction } from '../board/addon.ts';
import { IDENTITY_BAR } from '../board/regions.ts';
import { IDENTITY_MAGIC_OFFSET } from '../spec/index.ts';
import { deviceGone } from './errors.ts';
import type { DeviceLoss } from './device_loss.ts';

const allOnes = 0xffff_ffff;

/** A page of registers of an open function. Offsets are those of the generated constants. */
export class RegisterPage {
  private readonly board: BoardFunction;
  private readonly bar: number;
  private readonly base: number;
  private readonly loss: DeviceLoss;

  /**
   * @param loss is told when all ones are read back
   * @param bar number of the BAR that the page lies in, at `base` bytes
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
}
