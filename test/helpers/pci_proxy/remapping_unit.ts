import { closeSync, openSync, readSync } from 'node:fs';

import type { RemappingRoot } from '../../../lib/board/addon.ts';
import type { MachineBus } from './machine_bus.ts';

/** A message that a processor takes for an interrupt (Intel Software Developer's Manual 3A, 11.11). */
export interface InterruptMessage {
  readonly address: bigint;
  readonly data: number;
}

/** Registers of the first unit of a PC (Intel Virtualization Technology for Directed I/O, 11.4). */
const unit = 0xfed9_0000;
const globalStatus = unit + 0x1c;
const rootTableAddress = unit + 0x20;
const interruptTableAddress = unit + 0xb8;
const translationEnabled = 1 << 31;
const interruptsRemapped = 1 << 25;
const compatibilityInterrupts = 1 << 23;
const pageMask = ~0xfffn;
const extendedMode = 1n << 11n;

/** Messages to processors (5.1 there): all in one MiB; the format that names an entry of the table. */
const messages = 0xfee0_0000n;
const remappable = 1n << 4n;
const subhandleValid = 1n << 3n;
const entryBytes = 16;

/** The unit before the functions of a virtual machine, which translates their DMA and their interrupts. */
export class RemappingUnit {
  /** Where it finds the tables of the function; undefined: it does not translate. */
  readonly root: RemappingRoot | undefined;
  private readonly remaps: boolean;
  private readonly passesOthers: boolean;
  private readonly table: bigint;
  private readonly memory: string;

  private constructor(
    status: number,
    tables: { readonly root: bigint; readonly interrupts: bigint },
    sourceId: number,
    memory: string,
  ) {
    this.root =
      (status & translationEnabled) !== 0 ? { rootTable: tables.root & pageMask, sourceId } : undefined;
    this.remaps = (status & interruptsRemapped) !== 0;
    this.passesOthers = (status & compatibilityInterrupts) !== 0;
    this.table = tables.interrupts;
    this.memory = memory;
  }

  /** Its state now. @param memory file of the machine's memory */
  static async read(bus: MachineBus, sourceId: number, memory: string): Promise<RemappingUnit> {
    const read64 = async (address: number): Promise<bigint> =>
      BigInt(await bus.read32(address)) | (BigInt(await bus.read32(address + 4)) << 32n);
    const status = await bus.read32(globalStatus);
    const tables = {
      root: await read64(rootTableAddress),
      interrupts: await read64(interruptTableAddress),
    };
    return new RemappingUnit(status, tables, sourceId, memory);
  }

  /** A function's message, translated. Undefined: it is blocked. */
  remap(message: InterruptMessage): InterruptMessage | undefined {
    const { address, data } = message;
    if (!this.remaps) return message;
    if ((address & remappable) === 0n) return this.passesOthers ? message : undefined;
    const handle = Number(((address >> 5n) & 0x7fffn) | ((address & 4n) << 13n));
    const index = handle + ((address & subhandleValid) !== 0n ? data & 0xffff : 0);
    const low = this.entry(index);
    if ((low & 1n) === 0n) return undefined;
    const field = (from: bigint, bits: bigint): bigint => (low >> from) & ((1n << bits) - 1n);
    // Its destination is 32 bits of an x2APIC, or 8 bits at 15:8 of them; such a message has room for 8.
    const destination = (this.table & extendedMode) !== 0n ? field(32n, 8n) : field(40n, 8n);
    const [logical, redirected, level, mode, vector] = [
      field(2n, 1n),
      field(3n, 1n),
      field(4n, 1n),
      field(5n, 3n),
      field(16n, 8n),
    ];
    return {
      address: messages | (destination << 12n) | (redirected << 3n) | (logical << 2n),
      data: Number(vector | (mode << 8n) | (level << 15n)),
    };
  }

  /** The low half of an entry; 0, which is not present, where the table has none. */
  private entry(index: number): bigint {
    if (index >= 2 ** (Number(this.table & 0xfn) + 1)) return 0n;
    const half = Buffer.alloc(entryBytes / 2);
    const file = openSync(this.memory, 'r');
    readSync(file, half, 0, half.length, (this.table & pageMask) + BigInt(index * entryBytes));
    closeSync(file);
    return half.readBigUInt64LE();
  }
}
