// memory_translation caches permitted accesses as areas of memory, which grow while they are contiguous.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { AccessFlag, ManagementOpcode, ManagementStatus, encode } from '../../lib/spec/index.ts';
import { makeHost, type ManagedDevice, type ManagedFunction } from './managed_function.ts';
import type { KeyAccess } from './resource_manager_port.ts';

const pageBytes = 4096n;
const base = 0x7000_0064n;
/** Of the region in its first page. */
const firstOffset = 100n;
const rights = 1 << AccessFlag.localWrite;

interface Region {
  readonly device: ManagedDevice;
  readonly host: ManagedFunction;
  readonly key: number;
  readonly length: bigint;
  access(from: bigint, length: bigint): KeyAccess;
  /** The DMA address of a byte, by the page list. */
  at(place: bigint): bigint;
}

/** A region on these DMA pages, with 200 B of its last page left out. */
function makeRegion(pages: readonly number[]): Region {
  const { device, host, domain } = makeHost();
  const length = BigInt(pages.length) * pageBytes - firstOffset - 200n;
  const input = {
    protection_domain: domain,
    access_flags: rights,
    page_log2: 12,
    base,
    length,
    pages: pages.length,
    first_page_offset: Number(firstOffset),
  };
  const list = pages.map((page) => encode('page_table_entry', { valid: 1, page: BigInt(page) }));
  const answer = host.execute(ManagementOpcode.registerMemory, {}, [
    encode('register_memory_input', input),
    Buffer.concat(list),
  ]);
  expect(answer.status).toBe(ManagementStatus.success);
  const key = Number(answer.output);
  return {
    device,
    host,
    key,
    length,
    access: (from, bytes) => ({
      underlyingFunction: 1,
      protectionDomain: domain,
      key,
      address: base + from,
      length: bytes,
      rights,
    }),
    at: (place) => {
      const offset = place + firstOffset;
      return BigInt(pages[Number(offset / pageBytes)]!) * pageBytes + (offset % pageBytes);
    },
  };
}

it('consecutive accesses are cached as one area, which ends with the region', () => {
  const { device, access, at, length } = makeRegion(Array.from({ length: 60 }, (_, index) => 0x1000 + index));
  for (let place = 0n; place < length; place += pageBytes)
    device.port.remember(access(place, place + pageBytes > length ? length - place : pageBytes));
  expect(device.port.findGranted(access(0n, length))).toBe(at(0n));
  expect(device.port.findGranted(access(length - 1n, 1n))).toBe(at(length - 1n));
  expect(device.port.findGranted(access(0n, length + 1n))).toBeNull();
  expect(device.port.findGranted(access(length - 1n, 2n))).toBeNull();
});

it('an area ends where its pages are not contiguous', () => {
  const { device, access, at, length } = makeRegion(
    Array.from({ length: 60 }, (_, index) => (index < 20 ? 0x1000 : 0x2000) + index),
  );
  const gap = 20n * pageBytes - firstOffset;
  for (let place = 0n; place < gap; place += pageBytes / 2n) device.port.remember(access(place, 64n));
  expect(device.port.findGranted(access(gap - 1n, 1n))).toBe(at(gap - 1n));
  expect(device.port.findGranted(access(gap - 1n, 2n))).toBeNull();
  device.port.remember(access(gap, 64n));
  expect(device.port.findGranted(access(gap, 64n))).toBe(at(gap));
  expect(device.port.findGranted(access(gap - 1n, 2n))).toBeNull();
  expect(length).toBeGreaterThan(gap);
});

it('an area is dropped with its key', () => {
  const { device, host, key, access, length } = makeRegion([0x1000, 0x1001]);
  device.port.remember(access(0n, length));
  expect(device.port.findGranted(access(0n, length))).not.toBeNull();
  expect(host.execute(ManagementOpcode.deregisterMemory, { input_modifier: key }).status).toBe(
    ManagementStatus.success,
  );
  expect(device.port.findGranted(access(0n, length))).toBeNull();
});

it('an area is dropped when another key is created, and cached again', () => {
  const { device, host, access, at, length } = makeRegion([0x1000, 0x1001]);
  device.port.remember(access(0n, length));
  const other = encode('register_memory_input', {
    protection_domain: access(0n, 1n).protectionDomain,
    page_log2: 12,
    base,
    length: 1n,
    pages: 1,
  });
  const page = encode('page_table_entry', { valid: 1, page: 0x3000n });
  const { status } = host.execute(ManagementOpcode.registerMemory, {}, [other, page]);
  expect(status).toBe(ManagementStatus.success);
  expect(device.port.findGranted(access(0n, length))).toBeNull();
  device.port.remember(access(0n, length));
  expect(device.port.findGranted(access(0n, length))).toBe(at(0n));
});

it('each cached access follows the page list, whatever was accessed before', () => {
  const runs = fc.array(fc.record({ pages: fc.integer({ min: 1, max: 30 }), skipped: fc.nat(2) }), {
    minLength: 1,
    maxLength: 6,
  });
  const places = fc.array(fc.record({ at: fc.nat(1_000_000), bytes: fc.integer({ min: 1, max: 70_000 }) }), {
    maxLength: 60,
  });
  let found = 0;
  fc.assert(
    fc.property(runs, places, (shape, accesses) => {
      const pages: number[] = [];
      let next = 0x1000;
      for (const { pages: count, skipped } of shape) {
        for (let index = 0; index < count; index++) pages.push(next++);
        next += skipped;
      }
      const { device, access, at, length } = makeRegion(pages);
      for (const { at: seed, bytes } of accesses) {
        const place = BigInt(seed) % length;
        const wanted = access(place, BigInt(bytes) < length - place ? BigInt(bytes) : length - place);
        const granted = device.port.findGranted(wanted);
        if (granted === null) {
          device.port.remember(wanted);
          continue;
        }
        found++;
        for (let offset = 0n; offset < wanted.length; offset += pageBytes)
          expect(granted + offset).toBe(at(place + offset));
        expect(granted + wanted.length - 1n).toBe(at(place + wanted.length - 1n));
      }
    }),
    { numRuns: 200 },
  );
  expect(found).toBeGreaterThan(100);
});
