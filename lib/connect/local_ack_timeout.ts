import { wrongRange } from '../driver/arguments.ts';

/** The times of a path that a local ACK timeout is made of, as exponents: 4.096 µs × 2^n. */
export interface PathTimes {
  /** Longest time that a packet is on its way, 0 to 31, as a path record says. */
  readonly packetLifetime: number;
  /** Longest time from a request to its acknowledgment at the peer, 0 to 31: `targetAckDelay` of its address. */
  readonly targetAckDelay: number;
}

/** Largest exponent of 5 bits. */
const largest = 31;

/**
 * Returns the local ACK timeout of a path, an exponent: the least whose time holds a packet's way there and back, and the peer's work between
 * (InfiniBand volume 1, 9.7.6.1.3 and 12.7.34): 4.096 µs × 2^timeout ≥ 2 × 4.096 µs × 2^packetLifetime + 4.096 µs × 2^targetAckDelay.
 * @returns 1 to 31; 31, 2.4 hours, also where no exponent of 5 bits holds it
 * @throws RangeError: an exponent that is not 0 to 31
 */
export function localAckTimeout({ packetLifetime, targetAckDelay }: PathTimes): number {
  for (const [name, exponent] of Object.entries({ packetLifetime, targetAckDelay })) {
    if (!Number.isInteger(exponent) || exponent < 0 || exponent > largest)
      throw wrongRange(name, `an exponent of 4.096 µs, 0 to ${largest}`, exponent);
  }
  return Math.min(largest, Math.ceil(Math.log2(2 * 2 ** packetLifetime + 2 ** targetAckDelay)));
}
