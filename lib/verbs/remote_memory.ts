import { bits, isUint32, wrongRange } from '../driver/arguments.ts';
import type { RemotePlace } from '../driver/command.ts';
import { checkRange, joinAddress, splitAddress } from './address.ts';

/** Address, key and length of a peer's memory, from which {@link RemoteMemory} is made. */
export interface RemoteMemoryName {
  /** DMA address, 64 bits. */
  readonly address: number | bigint;
  /** R_Key. */
  readonly key: number;
  /** Length in bytes. */
  readonly length: number;
}

/** Memory of the peer that its key makes accessible to RDMA and atomics. Create it once and use it in many work requests. */
export class RemoteMemory implements RemotePlace {
  /** Low 32 bits of the address. */
  readonly addressLow: number;
  /** High 32 bits of the address. */
  readonly addressHigh: number;
  /** R_Key. */
  readonly key: number;
  /** Length in bytes. */
  readonly length: number;

  /** @throws RangeError an invalid address, key (32 bits) or length */
  constructor({ address, key, length }: RemoteMemoryName) {
    const { addressLow, addressHigh } = splitAddress(address);
    if (!isUint32(key)) throw wrongRange('key', bits(32), key);
    if (!Number.isSafeInteger(length) || length < 0) throw wrongRange('length', '0 to 2^53 - 1 B', length);
    this.addressLow = addressLow;
    this.addressHigh = addressHigh;
    this.key = key;
    this.length = length;
  }

  /** Address of the first byte. */
  get address(): bigint {
    return joinAddress(this);
  }

  /** Returns a part of the memory; without a length, from `offset` to the end. @throws RangeError beyond the end */
  slice(offset: number, length = this.length - offset): RemoteMemory {
    checkRange('the remote memory', this.length, offset, length);
    return new RemoteMemory({ address: this.address + BigInt(offset), key: this.key, length });
  }
}
