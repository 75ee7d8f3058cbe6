import { InvalidArgumentError } from 'commander';

import { pathMtus } from './path_mtus.ts';

/** Largest message, bytes: one process can hold the memory of both ends. */
export const largestMessage = 2 ** 30;
/** Largest datagram, bytes: the largest path MTU. */
export const largestDatagram = 4096;

/** Reads a path MTU in bytes. @throws InvalidArgumentError InfiniBand has no such path MTU */
export function mtu(text: string): number {
  if (text in pathMtus) return Number(text);
  throw new InvalidArgumentError(`It must be ${Object.keys(pathMtus).join(', ')}.`);
}

/**
 * Reads a whole number in decimal digits.
 * @param unit the value must be a multiple of it
 * @throws InvalidArgumentError it is not such a number, or out of range
 */
export function wholeNumber(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
  unit = 1,
): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `a whole number from ${least}` : `${least} to ${most}`;
  const expected = unit === 1 ? range : `a multiple of ${unit} from ${range}`;
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most && value % unit === 0) return value;
    throw new InvalidArgumentError(`It must be ${expected}.`);
  };
}
