import { pciFunctions } from '../../../lib/spec/index.ts';

/** A memory BAR of 32 bits. */
export interface ServedBar {
  readonly bar: number;
  /** A power of two, at least 4 KiB. */
  readonly bytes: number;
  readonly prefetchable: boolean;
}

/** Where a function's MSI-X vectors are. */
export interface ServedVectors {
  /** 1 to 2048. */
  readonly vectors: number;
  /** The BAR of table and pending bits; the table lies at its begin. */
  readonly bar: number;
  readonly pendingOffset: number;
}

/** Offsets of the header (PCI Local Bus Specification 3.0, 6.1), and of the capabilities here. */
const at = {
  vendor: 0x00,
  device: 0x02,
  command: 0x04,
  status: 0x06,
  classCode: 0x09,
  bars: 0x10,
  subsystemVendor: 0x2c,
  subsystemDevice: 0x2e,
  capabilities: 0x34,
  interruptLine: 0x3c,
  advancedFeatures: 0x40,
  vectors: 0x48,
} as const;
const bytesOfSpace = 256;
const memoryAndMaster = 0x6;
const capabilitiesList = 0x10;
const prefetchable = 0x8;
const bytesOfBar = 4;
/** InfiniBand controller. */
const classCode = [0x00, 0x06, 0x0c];
/** Conventional PCI Advanced Features: function-level reset, and whether transactions are pending. */
const advancedFeatures = { id: 0x13, length: 6, capabilities: 0x03 } as const;
const advancedFeaturesControl = at.advancedFeatures + 4;
/** The capability of MSI-X (6.8.2 there), whose control says whether it is enabled, and masked as a whole. */
const vectorsId = 0x11;
const vectorsControl = at.vectors + 2;
const vectorsEnabled = 0x8000;
const vectorsMasked = 0x4000;

/** Effects of a write to configuration space. */
export interface ConfigurationChange {
  /** The function was told to reset itself. */
  readonly reset: boolean;
}

/** The configuration space of the emulated board as a PCI function: its header, its BARs, function-level reset and MSI-X. */
export class ConfigurationSpace {
  private readonly bytes = Buffer.alloc(bytesOfSpace);
  /** Bits that can be written. */
  private readonly writable = Buffer.alloc(bytesOfSpace);
  private readonly bars: readonly ServedBar[];

  /** @param served undefined: it has no interrupts */
  constructor(bars: readonly ServedBar[], served?: ServedVectors) {
    this.bars = bars;
    const numbers = pciFunctions.find(({ name }) => name === 'emulated_board')!;
    this.bytes.writeUInt16LE(numbers.vendor, at.vendor);
    this.bytes.writeUInt16LE(numbers.device, at.device);
    this.bytes.writeUInt16LE(numbers.subsystemVendor!, at.subsystemVendor);
    this.bytes.writeUInt16LE(numbers.subsystemDevice!, at.subsystemDevice);
    this.bytes.writeUInt16LE(capabilitiesList, at.status);
    this.bytes.set(classCode, at.classCode);
    this.bytes.writeUInt8(at.advancedFeatures, at.capabilities);
    this.bytes.set(
      [advancedFeatures.id, 0, advancedFeatures.length, advancedFeatures.capabilities],
      at.advancedFeatures,
    );
    if (served !== undefined) {
      const { vectors, bar, pendingOffset } = served;
      this.bytes.writeUInt8(at.vectors, at.advancedFeatures + 1);
      this.bytes.writeUInt8(vectorsId, at.vectors);
      this.bytes.writeUInt16LE(vectors - 1, vectorsControl);
      this.bytes.writeUInt32LE(bar, at.vectors + 4);
      this.bytes.writeUInt32LE(pendingOffset | bar, at.vectors + 8);
      this.writable.writeUInt16LE(vectorsEnabled | vectorsMasked, vectorsControl);
    }
    this.writable.writeUInt16LE(memoryAndMaster, at.command);
    this.writable.writeUInt8(0xff, at.interruptLine);
    for (const { bar, bytes, prefetchable: combines } of bars) {
      this.bytes.writeUInt32LE(combines ? prefetchable : 0, at.bars + bar * bytesOfBar);
      this.writable.writeUInt32LE(-bytes >>> 0, at.bars + bar * bytesOfBar);
    }
  }

  /** @param bytes 1, 2 or 4 */
  read(offset: number, bytes: number): number {
    return offset + bytes <= bytesOfSpace ? this.bytes.readUIntLE(offset, bytes) : -1 >>> 0;
  }

  /** @param bytes 1, 2 or 4 */
  write(offset: number, value: number, bytes: number): ConfigurationChange {
    for (let index = 0; index < bytes && offset + index < bytesOfSpace; index++) {
      const mask = this.writable[offset + index]!;
      const byte = (value >>> (8 * index)) & mask;
      this.bytes[offset + index] = (this.bytes[offset + index]! & ~mask) | byte;
    }
    const control = advancedFeaturesControl - offset;
    const reset = control >= 0 && control < bytes && ((value >>> (8 * control)) & 1) === 1;
    if (reset) this.clear();
    return { reset };
  }

  /** The state after a reset: no BAR has an address, and nothing is decoded or mastered. */
  clear(): void {
    for (let offset = 0; offset < bytesOfSpace; offset++) this.bytes[offset]! &= ~this.writable[offset]!;
  }

  /** The function may begin transactions. */
  get busMaster(): boolean {
    return (this.bytes.readUInt16LE(at.command) & 4) !== 0;
  }

  /** Its vectors send messages: they are enabled, and not masked as a whole. */
  get vectorsOpen(): boolean {
    const control = this.bytes.readUInt16LE(vectorsControl) & this.writable.readUInt16LE(vectorsControl);
    return (control & (vectorsEnabled | vectorsMasked)) === vectorsEnabled;
  }

  /** Which BAR an address of the machine lies in, and where in it. */
  find(address: bigint): { readonly bar: number; readonly offset: number } | undefined {
    for (const { bar, bytes } of this.bars) {
      const begin = BigInt((this.bytes.readUInt32LE(at.bars + bar * bytesOfBar) & -bytes) >>> 0);
      if (begin !== 0n && address >= begin && address < begin + BigInt(bytes)) {
        return { bar, offset: Number(address - begin) };
      }
    }
    return undefined;
  }
}
