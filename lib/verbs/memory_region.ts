import type { GatherEntry } from '../driver/command.ts';
import type { MemoryRegion as RegionInDevice } from '../driver/memory_region.ts';
import { checkRange, splitAddress } from './address.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { RemoteMemory } from './remote_memory.ts';
import { VerbsObject } from './verbs_object.ts';

/** Part of a memory region: an entry of gather and scatter lists. Made once, used by many work requests. */
export interface MemorySlice extends GatherEntry {
  /** Bytes. */
  readonly length: number;
  /** L_Key. */
  readonly localKey: number;
}

/** Memory under a region. {@link ProtectionDomain} makes regions. */
export interface RegisteredMemory {
  readonly region: RegionInDevice;
  /** Where the device finds it. */
  readonly address: bigint;
  readonly bytes: Uint8Array;
  /** Frees or unmaps the memory, when its key is gone. */
  readonly release: () => void;
}

/** A memory region: memory that the device reaches, and the key that names it. */
export class MemoryRegion extends VerbsObject {
  readonly label: string;
  /** The memory. Empty after close() where it is the library's. */
  readonly bytes: Uint8Array;
  /** Bytes. */
  readonly length: number;
  /** Of the first byte: what work requests of this side and of the peer name. */
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
   * Part of the region; from `offset` to the end where no length is given.
   * @throws RangeError beyond its end; VerbsError EBADF: the region is closed, and its key names nothing, or another region by now
   */
  slice(offset = 0, length = this.length - offset): MemorySlice {
    this.requireOpen('slice');
    checkRange(this.label, this.length, offset, length);
    return { ...splitAddress(this.address + BigInt(offset)), length, localKey: this.localKey };
  }

  /** The region as the peer names it in RDMA and atomics. @throws VerbsError EBADF: the region is closed */
  remote(): RemoteMemory {
    this.requireOpen('remote');
    return new RemoteMemory({ address: this.address, key: this.remoteKey, length: this.length });
  }

  /** Ends when no access with the key is in flight. */
  protected destroy(): void {
    this.memory.region.deregister();
    this.memory.release();
  }
}
