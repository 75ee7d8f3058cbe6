import { wrongRange, wrongType } from './arguments.ts';

/** Receives the identifier of a completed work request, in two signed halves, which V8 stores without an allocation. */
export interface WorkRequestIdHolder {
  identifierLow: number;
  identifierHigh: number;
}

const rule = '0 to 2^53 - 1, or a bigint of 0 to 2^64 - 1';
const high = 2 ** 32;
const words = new BigUint64Array(1);
const wordHalves = new Int32Array(words.buffer);

/** The identifiers of the work requests of a queue, by slot: 64 bits each, in two halves. */
export class WorkRequestIds {
  /** The low and the high half of each slot. */
  private readonly halves: Int32Array;

  constructor(slots: number) {
    this.halves = new Int32Array(2 * slots);
  }

  /**
   * Stores an identifier; the default is 0.
   * @throws TypeError neither number nor bigint; RangeError: not an integer from 0 to 2^53 − 1, or not a bigint from 0 to 2^64 − 1
   */
  set(slot: number, wrId: number | bigint = 0): void {
    if (typeof wrId !== 'number' || wrId >>> 0 !== wrId) {
      this.setLong(slot, wrId);
      return;
    }
    this.halves[2 * slot] = wrId;
    this.halves[2 * slot + 1] = 0;
  }

  /** @throws as {@link set} */
  check(wrId: number | bigint | undefined): void {
    scratch.set(0, wrId);
  }

  /** Copies the identifiers of another queue with as many slots or fewer. */
  copy(others: WorkRequestIds): void {
    this.halves.set(others.halves);
  }

  get(slot: number, holder: WorkRequestIdHolder): void {
    holder.identifierLow = this.halves[2 * slot]!;
    holder.identifierHigh = this.halves[2 * slot + 1]!;
  }

  /** Stores an identifier of more than 32 bits, in a method of its own, so that V8 inlines {@link set} where work requests are posted. */
  private setLong(slot: number, wrId: number | bigint): void {
    const { halves } = this;
    if (typeof wrId === 'number') {
      if (!Number.isSafeInteger(wrId) || wrId < 0) throw wrongRange('wrId', rule, wrId);
      halves[2 * slot] = wrId;
      halves[2 * slot + 1] = wrId / high;
    } else {
      if (typeof wrId !== 'bigint') throw wrongType('wrId', rule, wrId);
      words[0] = wrId;
      if (words[0] !== wrId) throw wrongRange('wrId', rule, wrId);
      halves.set(wordHalves, 2 * slot);
    }
  }
}

const scratch = new WorkRequestIds(1);
