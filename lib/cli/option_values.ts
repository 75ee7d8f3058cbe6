import { InvalidArgumentError } from 'commander';

import { pathMtus } from './path_mtus.ts';

/** Bytes of the largest message: the memory of both ends can be in one process. */
export const largestMessage = 2 ** 30;
/** Bytes of the largest datagram: the largest path MTU. */
export const largestDatagram = 4096;

/** Reads a path MTU in bytes. @throws InvalidArgumentError InfiniBand has no such path MTU */
export function mtu(text: string): number {
  if (text in pathMtus) return Number(text);
  throw new InvalidArgumentError(`It must be ${Object.keys(pathMtus).join(', ')}.`);
}

/**
 * Reads a whole number in decimal digits.
 * @param unit of which it must be a multiple
 * @throws InvalidArgumentError it is none, or out of range
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
