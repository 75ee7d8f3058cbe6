import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';

import { MachineBus } from '../helpers/pci_proxy/machine_bus.ts';
import { RemappingUnit } from '../helpers/pci_proxy/remapping_unit.ts';

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A machine with these registers, which keep the written values. */
function serveBus(folder: string, registers: Record<number, number>): MachineBus {
  const socketPath = path.join(folder, 'qtest');
  const server = createServer((socket) => {
    createInterface(socket).on('line', (line) => {
      const [command, address, value] = line.split(' ');
      if (command === 'writel') registers[Number(address)] = Number(value);
      const found = registers[Number(address)] ?? 0;
      socket.write(
        command === 'readl' ? `IRQ raise 3\nOK 0x${found.toString(16).padStart(16, '0')}\n` : 'OK\n',
      );
    });
  }).listen(socketPath);
  const bus = new MachineBus(socketPath);
  onTestFinished(() => {
    bus.close();
    server.close();
  });
  return bus;
}

const status = 0xfed9_001c;
const root = 0xfed9_0020;
const interrupts = 0xfed9_00b8;
const translates = 2 ** 31;
const remaps = 1 << 25;
const sourceId = 0x80;
const tableAt = 0x2000;

/** A table of 16 entries; entry 9, and entry 25 beyond its end, map to vector 0x52 of processor 3. */
function remappingMemory(folder: string, high: number): string {
  const memory = Buffer.alloc(0x4000);
  for (const index of [9, 25]) {
    memory.writeUInt32LE((0x52 << 16) | (1 << 5) | (1 << 3) | (1 << 2) | 1, tableAt + index * 16);
    memory.writeUInt32LE(high, tableAt + index * 16 + 4);
  }
  const file = path.join(folder, 'memory');
  writeFileSync(file, memory);
  return file;
}

describe('a machine bus', () => {
  it('reads and writes one register at a time, in order', async () => {
    const bus = serveBus(newFolder(), { 0x10: 0x1234_5678 });
    const written = bus.write32(0x20, 0xffff_ffff);
    expect(await Promise.all([bus.read32(0x10), bus.read32(0x20)])).toEqual([0x1234_5678, 0xffff_ffff]);
    await written;
  });

  it('rejects pending accesses when the machine ends, and new ones when there is no machine', async () => {
    const folder = newFolder();
    const server = createServer((socket) => socket.once('data', () => socket.destroy())).listen(
      path.join(folder, 'gone'),
    );
    onTestFinished(() => void server.close());
    await expect(new MachineBus(path.join(folder, 'gone')).read32(0)).rejects.toThrow('the machine is gone');
    await expect(new MachineBus(path.join(folder, 'none')).read32(0)).rejects.toThrow('ENOENT');
  });
});

describe('a remapping unit', () => {
  it('passes messages unchanged while it is off', async () => {
    const folder = newFolder();
    const unit = await RemappingUnit.read(serveBus(folder, { [root]: 0x1000 }), sourceId, 'none');
    expect(unit.root).toBeUndefined();
    const message = { address: 0xfee0_1000n, data: 0x31 };
    expect(unit.remap(message)).toEqual(message);
  });

  it('reports the root table of the function', async () => {
    const registers = { [status]: translates, [root]: 0x0123_4000, [root + 4]: 2 };
    const unit = await RemappingUnit.read(serveBus(newFolder(), registers), sourceId, 'none');
    expect(unit.root).toEqual({ rootTable: 0x2_0123_4000n, sourceId });
  });

  it.each([
    ['the format with 8-bit destinations', 0, 3 << 8],
    ['the format with 32-bit destinations', 1 << 11, 3],
  ])('remaps a message by its table, in %s', async (_, mode, high) => {
    const folder = newFolder();
    const memory = remappingMemory(folder, high);
    const bus = serveBus(folder, { [status]: remaps, [interrupts]: tableAt | mode | 3 });
    const unit = await RemappingUnit.read(bus, sourceId, memory);
    const remapped = { address: 0xfee0_300cn, data: 0x152 };
    expect(unit.remap({ address: 0xfee0_0010n | (9n << 5n), data: 0xffff })).toEqual(remapped);
    // If the address sets the subhandle bit, the data is added to the index.
    expect(unit.remap({ address: 0xfee0_0018n | (6n << 5n), data: 3 })).toEqual(remapped);
  });

  it('blocks messages without an entry in its table, and messages in compatibility format unless they are enabled', async () => {
    const folder = newFolder();
    const memory = remappingMemory(folder, 0);
    const registers = { [status]: remaps, [interrupts]: tableAt | 3 };
    const bus = serveBus(folder, registers);
    const unit = await RemappingUnit.read(bus, sourceId, memory);
    for (const address of [
      0xfee0_0010n | (8n << 5n), // not present
      0xfee0_0010n | (25n << 5n), // beyond 16 entries
      0xfee0_0014n | (9n << 5n), // bit 15 of the index
      0xfee0_0000n, // names no entry
    ])
      expect(unit.remap({ address, data: 0 })).toBeUndefined();
    registers[status] = remaps | (1 << 23);
    const other = { address: 0xfee0_0000n, data: 0x31 };
    expect((await RemappingUnit.read(bus, sourceId, memory)).remap(other)).toEqual(other);
  });
});
