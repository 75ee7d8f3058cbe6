import type { Addon } from '../../lib/board/addon.ts';
import { loadTestAddon } from '../helpers/test_addon.ts';

/** The state of the kernel that native/test/vfio_stand_in.cpp stands in for. */
export interface VfioStandIn {
  /** Of the IOMMU, by DMA address. `rights` of the device: r, w or rw. */
  mappings(this: void): { address: bigint; memory: bigint; bytes: number; rights: string }[];
  /** Signals an interrupt: the kernel wants the function back; it has reported an error; MSI-X vector 0. False: it was given no eventfd. */
  signal(this: void, interrupt: 'request' | 'error' | 'vector'): boolean;
}

/** native/test/pci_port.cpp */
export const { storeCommand, addressInLine, AddressAllocatorPort, useVfioStandIn, openVfioFunction } =
  loadTestAddon() as Pick<Addon, 'openVfioFunction'> & {
    /** A stand-in for VFIO and iommufd, with ordinary files for theirs; openVfioFunction of this addon uses it from now on. */
    useVfioStandIn(options: {
      paths: Partial<Record<'container' | 'group' | 'device' | 'iommu' | 'cdev', string>>;
      /** Number of the system's error with which binding to an iommufd fails. */
      refusedBind?: number;
      /** False: configuration space is not reached. */
      hasConfiguration?: boolean;
    }): VfioStandIn;
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
