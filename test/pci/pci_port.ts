import type { Addon } from '../../lib/board/addon.ts';
import { loadTestAddon } from '../helpers/test_addon.ts';

/** The state of the kernel that native/test/vfio_stand_in.cpp imitates. */
export interface VfioStandIn {
  /** Mappings of the IOMMU by DMA address. `rights` of the device: r, w or rw. */
  mappings(this: void): { address: bigint; memory: bigint; bytes: number; rights: string }[];
  /** Signals an interrupt: device request, error, or MSI-X vector 0. False: no eventfd is registered for it. */
  signal(this: void, interrupt: 'request' | 'error' | 'vector'): boolean;
}

/** native/test/pci_port.cpp */
export const { storeCommand, addressInLine, AddressAllocatorPort, useVfioStandIn, openVfioFunction } =
  loadTestAddon() as Pick<Addon, 'openVfioFunction'> & {
    /** A stand-in for VFIO and iommufd that uses ordinary files; openVfioFunction of this addon uses it from now on. */
    useVfioStandIn(options: {
      paths: Partial<Record<'container' | 'group' | 'device' | 'iommu' | 'cdev', string>>;
      /** errno with which binding to an iommufd fails. */
      refusedBind?: number;
      /** False: configuration space cannot be accessed. */
      hasConfiguration?: boolean;
    }): VfioStandIn;
    /** False: this processor lacks the store. `source` has whole segments of 8 B; `destination` begins a line of 64 B. */
    storeCommand(name: string, destination: Uint8Array, source: Uint8Array): boolean;
    /** Low 6 bits of the address of `memory`: its offset in a line of 64 B. */
    addressInLine(memory: ArrayBuffer): number;
    AddressAllocatorPort: new (
      ranges: readonly (readonly [bigint, bigint])[],
      pageBytes: number,
    ) => {
      take(address: bigint, bytes: bigint): boolean;
      takeAny(bytes: bigint): bigint | undefined;
      /** Bytes that were allocated there; 0: none. */
      giveBack(address: bigint): bigint;
    };
  };
