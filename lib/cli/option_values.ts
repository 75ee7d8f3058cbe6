import { InvalidArgumentError } from 'commander';

import { pathMtus } from './path_mtus.ts';

/** Reads a path MTU in bytes. @throws InvalidArgumentError it is none of InfiniBand's */
export function mtu(text: string): number {
  if (text in pathMtus) return Number(text);
  throw new InvalidArgumentError(`It must be ${Object.keys(pathMtus).join(', ')}.`);
}

/** Reads a whole number. @throws InvalidArgumentError it is none, or out of range */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER
        ? `It must be a whole number from ${least}.`
        : `It must be ${least} to ${most}.`,
    );
  };
}
