import { bits, isUint32, wrongRange } from '../driver/arguments.ts';
import type { RemotePlace } from '../driver/command.ts';
import { checkRange, joinAddress, splitAddress } from './address.ts';

/** How a memory of the peer is told: what {@link RemoteMemory} is made of. */
export interface RemoteMemoryName {
  /** 64 bits. */
  readonly address: number | bigint;
  /** R_Key. */
  readonly key: number;
  /** Bytes. */
  readonly length: number;
}

/** Memory of the peer that its key lets RDMA and atomics reach. Made once, used by many work requests. */
export class RemoteMemory implements RemotePlace {
  /** Low 32 bits of the address. */
  readonly addressLow: number;
  /** High 32 bits of the address. */
  readonly addressHigh: number;
  /** R_Key. */
  readonly key: number;
  /** Bytes. */
  readonly length: number;

  /** @throws RangeError an address, key (32 bits) or length that there cannot be */
  constructor({ address, key, length }: RemoteMemoryName) {
    const { addressLow, addressHigh } = splitAddress(address);
    if (!isUint32(key)) throw wrongRange('key', bits(32), key);
    if (!Number.isSafeInteger(length) || length < 0) throw wrongRange('length', '0 to 2^53 - 1 B', length);
    this.addressLow = addressLow;
    this.addressHigh = addressHigh;
    this.key = key;
    this.length = length;
  }

  /** Of the first byte. */
  get address(): bigint {
    return joinAddress(this);
  }

  /** Part of it; from `offset` to the end where no length is given. @throws RangeError beyond its end */
  slice(offset: number, length = this.length - offset): RemoteMemory {
    checkRange('the remote memory', this.length, offset, length);
    return new RemoteMemory({ address: this.address + BigInt(offset), key: this.key, length });
  }
}
