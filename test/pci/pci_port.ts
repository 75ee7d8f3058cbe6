import { loadTestAddon } from '../test_addon.ts';

/** native/test/pci_port.cpp */
export const { storeCommand, addressInLine, AddressAllocatorPort } = loadTestAddon() as {
  /** False: this processor does not have the way. `source` is whole segments of 8 B, `destination` a multiple of 64. */
  storeCommand(name: string, destination: Uint8Array, source: Uint8Array): boolean;
  /** Low 6 bits of the address of memory: where it lies in a line of 64 B. */
  addressInLine(memory: ArrayBuffer): number;
  AddressAllocatorPort: new (
    ranges: readonly (readonly [bigint, bigint])[],
    pageBytes: number,
  ) => {
    take(address: bigint, bytes: bigint): boolean;
    takeAny(bytes: bigint): bigint | undefined;
    /** Bytes that were taken there; 0: none. */
    giveBack(address: bigint): bigint;
  };
};
