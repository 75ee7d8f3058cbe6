import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ManagedDevice } from './managed_function.ts';
import { pageList } from './management_inputs.ts';
import { makeResourceManager, type ResourceManagerPort } from './resource_manager_port.ts';

const page = 4096n;
const entries = 1024; // page table entries of the device

interface Table {
  table: number;
  underlyingFunction: number;
  pages: number;
  first: number; // DMA page number of its first page; the others follow
}

/** Entries that a table occupies: whole lines of 64 B, a power of two of them. */
const runOf = (pages: number): number => 8 * 2 ** Math.ceil(Math.log2(Math.ceil(pages / 8)));

const makeTable = (
  device: ManagedDevice,
  pages: number,
  first: number,
  underlyingFunction = 1,
): Table | null => {
  const table = device.port.createTable(underlyingFunction, pages);
  if (table === null) return null;
  expect(device.port.writeEntries(table, 0, pageList(pages, first))).toBe(true);
  return { table, underlyingFunction, pages, first };
};

const commands = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('create'), value: fc.integer({ min: 1, max: 200 }) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('destroy'), value: fc.nat(1000) }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('translate'), value: fc.nat(1_000_000) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('resetFunction'), value: fc.nat(2) }) },
  ),
  { maxLength: 120 },
);

describe('memory_translation', () => {
  it('translates like a plain list of tables through random changes', () => {
    fc.assert(
      fc.property(commands, (steps) => {
        const device = new ManagedDevice({ pageTableEntries: entries, memoryKeys: 256 });
        let tables: Table[] = [];
        let made = 0;
        for (const { kind, value } of steps) {
          if (kind === 'create') {
            const longest = device.port.longestTable();
            const table = makeTable(device, value, 0x10_0000 + 0x1000 * made++, value % 3);
            expect(table !== null).toBe(runOf(value) <= longest);
            if (table !== null) tables.push(table);
          } else if (kind === 'destroy' && tables.length > 0) {
            const [gone] = tables.splice(value % tables.length, 1);
            device.port.destroyTable(gone!.table);
          } else if (kind === 'translate' && tables.length > 0) {
            const { table, pages, first } = tables[value % tables.length]!;
            const offset = BigInt(value % ((pages + 2) * 4096));
            const expected =
              offset / page < pages ? (BigInt(first) + offset / page) * page + (offset % page) : null;
            expect(device.port.translate(table, offset)).toBe(expected);
          } else if (kind === 'resetFunction') {
            device.port.resetFunction(value);
            tables = tables.filter(({ underlyingFunction }) => underlyingFunction !== value);
          }
          const used = tables.reduce((sum, { pages }) => sum + runOf(pages), 0);
          expect(device.port.entriesFree()).toBe(entries - used);
          expect(device.port.verify()).toBeNull();
        }
      }),
      { numRuns: 60 },
    );
  });

  it('gives tables that do not overlap and are aligned to their run', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 60 }), (sizes) => {
        const device = new ManagedDevice({ pageTableEntries: entries, memoryKeys: 256 });
        const taken = new Set<number>();
        for (const pages of sizes) {
          const longest = device.port.longestTable();
          const table = device.port.createTable(0, pages);
          expect(table !== null).toBe(runOf(pages) <= longest);
          if (table === null) continue;
          expect(table % runOf(pages)).toBe(0);
          for (let entry = table; entry < table + runOf(pages); ++entry) {
            expect(taken.has(entry)).toBe(false);
            taken.add(entry);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has one free run again after all tables are destroyed', () => {
    const device = new ManagedDevice({ pageTableEntries: entries, memoryKeys: 256 });
    const tables = Array.from({ length: entries / 8 }, () => device.port.createTable(0, 1)!);
    expect(device.port.createTable(0, 1)).toBeNull();
    expect(device.port.longestTable()).toBe(0);
    for (const table of tables.filter((_, index) => index % 2 === 1)) device.port.destroyTable(table);
    expect(device.port.longestTable()).toBe(8);
    for (const table of tables.filter((_, index) => index % 2 === 0)) device.port.destroyTable(table);
    expect(device.port.longestTable()).toBe(entries);
    expect(device.port.createTable(0, entries)).toBe(0);
  });

  it('finds no table at an index where none starts', () => {
    const device = new ManagedDevice({ pageTableEntries: entries, memoryKeys: 256 });
    const { table } = makeTable(device, 20, 0x500)!;
    for (const wrong of [table + 1, table + 8, table + 32, entries, 0xffff_ffff])
      expect(device.port.translate(wrong, 0n)).toBeNull();
    expect(device.port.translate(table, 0n)).toBe(0x500n * page);
    expect(device.port.translate(table, 2n ** 50n)).toBeNull();
    device.port.destroyTable(table);
    expect(device.port.translate(table, 0n)).toBeNull();
  });

  it.each([20, 1000, 2000])(
    'does not return entries of a destroyed table of %i to its successor',
    (pages) => {
      const device = new ManagedDevice({ pageTableEntries: 2 * entries, memoryKeys: 256 });
      for (let round = 0; round < 3; ++round) {
        const made = makeTable(device, pages, 0x8000 * (round + 1))!;
        for (let at = 0; at < pages; at += 37)
          expect(device.port.translate(made.table, BigInt(at) * page)).toBe(BigInt(made.first + at) * page);
        device.port.destroyTable(made.table);
      }
    },
  );

  it('returns the latest value, and nothing for an invalid entry', () => {
    const device = new ManagedDevice({ pageTableEntries: entries, memoryKeys: 256 });
    const { table } = makeTable(device, 20, 0x500)!;
    expect(device.port.translate(table, 9n * page)).toBe(0x509n * page);
    expect(device.port.writeEntries(table, 9, pageList(2, 0xa000))).toBe(true);
    expect(device.port.translate(table, 9n * page)).toBe(0xa000n * page);
    expect(device.port.writeEntries(table, 9, new Uint8Array(8))).toBe(true);
    expect(device.port.translate(table, 9n * page)).toBeNull();
    expect(device.port.translate(table, 10n * page)).toBe(0xa001n * page);
  });

  it('allocates the tightest fitting run', () => {
    const device = new ManagedDevice({ pageTableEntries: entries, memoryKeys: 256 });
    const half = device.port.createTable(0, entries / 2)!;
    expect(device.port.createTable(0, 8)).toBe(entries / 2);
    device.port.destroyTable(half);
    expect(device.port.createTable(0, 8)).toBe(entries / 2 + 8);
    expect(device.port.createTable(0, 100)).toBe(entries / 2 + 128);
    expect(device.port.longestTable()).toBe(entries / 2);
  });

  it('reads context memory once for eight neighbors', () => {
    const device = new ManagedDevice({ pageTableEntries: entries, memoryKeys: 256 });
    const { table } = makeTable(device, 16, 0x700)!;
    const before = device.port.accessesOf(0);
    for (let round = 0; round < 5; ++round)
      for (let at = 0n; at < 16n; ++at) device.port.translate(table, at * page);
    expect(device.port.accessesOf(0) - before).toBe(2);
  });

  it('translates nothing while context memory cannot be accessed, and works again afterwards', () => {
    const device = new ManagedDevice({ pageTableEntries: entries, memoryKeys: 256 });
    const { table } = makeTable(device, 4, 0x900)!;
    const begin = device.address(device.contextMemory);
    device.port.setFaults([{ underlyingFunction: 0, begin, end: begin + 0x10_0000n }]);
    expect(device.port.translate(table, page)).toBeNull();
    expect(device.port.writeEntries(table, 0, pageList(4, 0xa00))).toBe(false);
    expect(device.port.counters(0).dmaFaults).toBe(2);
    device.port.setFaults([]);
    expect(device.port.translate(table, page)).toBe(0x901n * page);
  });
});

describe('context_memory', () => {
  const bare = (): ResourceManagerPort =>
    makeResourceManager({ memoryBytes: 1 << 20, queuePairs: 64, pageTableEntries: entries, memoryKeys: 256 });

  it('is accepted once, if it is aligned, large enough and accessible', () => {
    const port = bare();
    const needed = port.contextMemoryNeeded();
    expect(needed % 4096).toBe(0);
    expect(port.openContextMemory(port.base + 512n, needed)).toBe(false);
    expect(port.openContextMemory(port.base, needed - 4096)).toBe(false);
    expect(port.openContextMemory(port.base - page, needed)).toBe(false);
    expect(port.openContextMemory(port.base + BigInt((1 << 20) - needed) + page, needed)).toBe(false);
    expect(port.openContextMemory(port.base, needed)).toBe(true);
    expect(port.openContextMemory(port.base, needed)).toBe(true);
    expect(port.openContextMemory(port.base + page, needed)).toBe(false);
  });

  it('is in the domain of function 0 only', () => {
    const port = bare();
    const needed = port.contextMemoryNeeded();
    const begin = port.base;
    port.setFaults(
      [1, 2, 3].map((underlyingFunction) => ({ underlyingFunction, begin, end: begin + 4096n })),
    );
    expect(port.openContextMemory(begin, needed)).toBe(true);
    const other = bare();
    other.setFaults([{ underlyingFunction: 0, begin: other.base, end: other.base + 8n }]);
    expect(other.openContextMemory(other.base, needed)).toBe(false);
  });
});
