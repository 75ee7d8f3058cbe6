/** Numbers that follow from a seed (mulberry32): the one source of random numbers of the tests. */
export class Random {
  #state;

  /** @param {number} seed 32 bits */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /**
   * A number from 0 to `end` - 1.
   * @param {number} end
   * @returns {number}
   */
  below(end) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  /**
   * True once in `times`.
   * @param {number} times
   * @returns {boolean}
   */
  once(times) {
    return this.below(times) === 0;
  }

  /**
   * @template Value
   * @param {readonly Value[]} values
   * @returns {Value}
   */
  pick(values) {
    return values[this.below(values.length)];
  }
}
