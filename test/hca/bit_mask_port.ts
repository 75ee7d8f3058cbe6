import { loadTestAddon } from '../helpers/test_addon.ts';

/** native/test/bit_mask_port.cpp */
export interface BitMaskPort {
  any(): boolean;
  test(bit: number): boolean;
  set(bit: number): void;
  clear(bit: number): void;
  findFirst(): number | null;
  findNext(after: number): number | null;
  /** Null if no bit is set; nothing changes then. */
  takeFirst(): number | null;
}

const addon = loadTestAddon() as { BitMaskPort: new (size: number, value: boolean) => BitMaskPort };

/** A mask whose bits all have this value. */
export function makeBitMask(size: number, value: boolean): BitMaskPort {
  return new addon.BitMaskPort(size, value);
}
