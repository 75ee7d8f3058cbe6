import type { GatherEntry } from '../driver/command.ts';
import type { MemoryRegion as RegionInDevice } from '../driver/memory_region.ts';
import { checkRange, splitAddress } from './address.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { RemoteMemory } from './remote_memory.ts';
import { VerbsObject } from './verbs_object.ts';

/** A part of a memory region: an entry of gather and scatter lists. Create it once and use it in many work requests. */
export interface MemorySlice extends GatherEntry {
  /** Length in bytes. */
  readonly length: number;
  /** L_Key. */
  readonly localKey: number;
}

/** The memory of a region. {@link ProtectionDomain} makes regions. */
export interface RegisteredMemory {
  readonly region: RegionInDevice;
  /** Its DMA address. */
  readonly address: bigint;
  readonly bytes: Uint8Array;
  /** Frees or unmaps the memory after its key is invalid. */
  readonly release: () => void;
}

/** A memory region: memory that the device can reach, and its keys. */
export class MemoryRegion extends VerbsObject {
  readonly label: string;
  /** The memory. Empty after close() if the library allocated it. */
  readonly bytes: Uint8Array;
  /** Length in bytes. */
  readonly length: number;
  /** DMA address of the first byte, for work requests of this side and of the peer. */
  readonly address: bigint;
  private readonly memory: RegisteredMemory;

  /** {@link ProtectionDomain.allocate} and {@link ProtectionDomain.registerMemory} make regions. */
  constructor(protectionDomain: ProtectionDomain, memory: RegisteredMemory) {
    super([protectionDomain]);
    this.memory = memory;
    this.bytes = memory.bytes;
    this.length = memory.bytes.length;
    this.address = memory.address;
    this.label = `memory region 0x${memory.region.key.toString(16)}`;
  }

  /** L_Key. */
  get localKey(): number {
    return this.memory.region.key;
  }

  /** R_Key. */
  get remoteKey(): number {
    return this.memory.region.key;
  }

  /**
   * Returns a part of the region; without a length, from `offset` to the end.
   * @throws RangeError beyond the end; VerbsError EBADF: the region is closed, so its key is invalid or names another region
   */
  slice(offset = 0, length = this.length - offset): MemorySlice {
    this.requireOpen('slice');
    checkRange(this.label, this.length, offset, length);
    return { ...splitAddress(this.address + BigInt(offset)), length, localKey: this.localKey };
  }

  /** Returns the address and key that a peer needs for RDMA and atomics. @throws VerbsError EBADF: the region is closed */
  remote(): RemoteMemory {
    this.requireOpen('remote');
    return new RemoteMemory({ address: this.address, key: this.remoteKey, length: this.length });
  }

  /** Returns when no access with the key is in flight. */
  protected destroy(): void {
    this.memory.region.deregister();
    this.memory.release();
  }
}
