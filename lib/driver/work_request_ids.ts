/** Where the identifier of a completed work request goes, in two halves. */
export interface WorkRequestIdHolder {
  wrIdLow: number;
  wrIdHigh: number;
}

import { wrongRange, wrongType } from './arguments.ts';

const rule = '0 to 2^53 - 1, or a bigint of 0 to 2^64 - 1';
const high = 2 ** 32;
const words = new BigUint64Array(1);
const halves = new Uint32Array(words.buffer);

/** The identifiers that a user gave the work requests of a queue, by slot: 64 bits each, in two halves. */
export class WorkRequestIds {
  private readonly low: Uint32Array;
  private readonly high: Uint32Array;

  constructor(slots: number) {
    this.low = new Uint32Array(slots);
    this.high = new Uint32Array(slots);
  }

  /**
   * Keeps an identifier; none is 0.
   * @throws TypeError neither number nor bigint; RangeError: not a whole number from 0 to 2^53 − 1, or a bigint from 0 to 2^64 − 1
   */
  set(slot: number, wrId: number | bigint = 0): void {
    if (typeof wrId === 'number') {
      if (!Number.isSafeInteger(wrId) || wrId < 0) throw wrongRange('wrId', rule, wrId);
      this.low[slot] = wrId;
      this.high[slot] = wrId / high;
    } else {
      if (typeof wrId !== 'bigint') throw wrongType('wrId', rule, wrId);
      words[0] = wrId;
      if (words[0] !== wrId) throw wrongRange('wrId', rule, wrId);
      this.low[slot] = halves[0]!;
      this.high[slot] = halves[1]!;
    }
  }

  /** Those of another queue with as many slots or fewer. */
  copy(others: WorkRequestIds): void {
    this.low.set(others.low);
    this.high.set(others.high);
  }

  get(slot: number, holder: WorkRequestIdHolder): void {
    holder.wrIdLow = this.low[slot]!;
    holder.wrIdHigh = this.high[slot]!;
  }
}
