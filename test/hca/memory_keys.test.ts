import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { AccessFlag, ManagementOpcode, ManagementStatus, Resource, encode } from '../../lib/spec/index.ts';
import { ManagedDevice, ManagedFunction, holdings, makeHost, type Answer } from './managed_function.ts';
import { bitOf, pageList } from './management_inputs.ts';
import { AccessFault, type KeyAccess } from './resource_manager_port.ts';

const { success, badParameter, badObject, badState, inUse, noResources } = ManagementStatus;
const { contextMemoryFault } = ManagementStatus;
const { registerMemory, deregisterMemory } = ManagementOpcode;

const bit = (flag: AccessFlag): number => 1 << flag;
const localWrite = bit(AccessFlag.localWrite);
const remoteWrite = bit(AccessFlag.remoteWrite);
const remoteRead = bit(AccessFlag.remoteRead);
const remoteAtomic = bit(AccessFlag.remoteAtomic);

type Fields = Parameters<typeof encode>[1];

/** Two pages of which the region takes 5,000 B from byte 100 on, at virtual address 0x7000_0064. */
const region = {
  access_flags: localWrite | remoteRead,
  page_log2: 12,
  base: 0x7000_0064n,
  length: 5000n,
  pages: 2,
  first_page_offset: 100,
};

function registerFields(host: ManagedFunction, domain: number, fields: Fields = {}): Answer {
  const input = { ...region, protection_domain: domain, ...fields };
  return host.execute(registerMemory, {}, [encode('register_memory_input', input), pageList(input.pages)]);
}

/** A key of {@link region}. */
function register(host: ManagedFunction, domain: number, fields: Fields = {}): number {
  const answer = registerFields(host, domain, fields);
  expect(answer.status).toBe(success);
  return Number(answer.output);
}

const deregister = (host: ManagedFunction, key: number): Answer =>
  host.execute(deregisterMemory, { input_modifier: key });

/** A device with a region of function 1, and an access to all of it. */
function makeRegion(fields: Fields = {}): {
  device: ManagedDevice;
  host: ManagedFunction;
  domain: number;
  key: number;
  check: (change?: Partial<KeyAccess>) => number;
} {
  const { device, host, domain } = makeHost();
  const key = register(host, domain, fields);
  const { base, length } = { ...region, ...fields };
  const whole = { underlyingFunction: 1, protectionDomain: domain, key, rights: 0 };
  const check = (change: Partial<KeyAccess> = {}): number =>
    device.port.checkAccess({ ...whole, address: base, length, ...change });
  return { device, host, domain, key, check };
}

describe('register_memory', () => {
  it('creates a key and its page table; deregister_memory frees both', () => {
    const { device, host, domain } = makeHost();
    const before = holdings(device);
    const key = register(host, domain);
    expect(key >>> 8).toBeGreaterThan(0);
    expect(device.port.verify()).toBeNull();
    expect(host.execute(ManagementOpcode.destroyProtectionDomain, { input_modifier: domain }).status).toBe(
      inUse,
    );
    expect(deregister(host, key).status).toBe(success);
    expect(holdings(device)).toEqual(before);
    expect(device.port.verify()).toBeNull();
    host.succeed(ManagementOpcode.destroyProtectionDomain, { input_modifier: domain });
  });

  it.each([
    ['access_flags', { access_flags: 0x40 }],
    ['access_flags', { access_flags: remoteWrite }],
    ['access_flags', { access_flags: remoteAtomic | remoteRead }],
    ['page_log2', { page_log2: 11 }],
    ['page_log2', { page_log2: 32 }],
    ['length', { length: 0n }],
    ['length', { length: 2n ** 48n + 1n }],
    ['base', { base: 2n ** 64n - 4999n }],
    ['base', { access_flags: bit(AccessFlag.zeroBased), base: 1n }],
    ['first_page_offset', { first_page_offset: 4096 }],
    ['pages', { pages: 1 }],
    ['pages', { pages: 0 }],
    ['pages', { first_page_offset: 3193 }],
  ])('names the field %s of an input that is wrong: %o', (field, wrong) => {
    const { device, host, domain } = makeHost();
    const before = holdings(device);
    expect(registerFields(host, domain, wrong)).toMatchObject({
      status: badParameter,
      inMailbox: 1,
      output: bitOf('register_memory_input', field),
    });
    expect(holdings(device)).toEqual(before);
  });

  it.each([
    { access_flags: 0x3f, base: 0n },
    { base: 2n ** 64n - 5000n },
    { first_page_offset: 3192 },
    { page_log2: 31, first_page_offset: 2 ** 31 - 1, length: 2n ** 31n + 1n },
    { page_log2: 31, pages: 2 ** 17, first_page_offset: 0, length: 2n ** 48n, base: 0n },
  ])('accepts values at the limits: %o', (fields) => {
    const { device, host, domain } = makeBig();
    const key = register(host, domain, fields);
    expect(device.port.verify()).toBeNull();
    expect(deregister(host, key).status).toBe(success);
  });

  it('refuses an unknown protection domain, a length of another list, too long a list', () => {
    const { device, host, domain } = makeHost();
    const before = holdings(device);
    expect(registerFields(host, domain + 1).status).toBe(badObject);
    const input = encode('register_memory_input', { ...region, protection_domain: domain });
    expect(host.execute(registerMemory, {}, [input, pageList(3)])).toMatchObject({
      status: badParameter,
      inMailbox: 0,
      output: bitOf('management_command', 'input_length'),
    });
    expect(registerFields(host, domain, { pages: 1025 })).toMatchObject({
      status: noResources,
      resource: Resource.contextMemory,
      asked: 1025,
      left: 1024,
    });
    expect(holdings(device)).toEqual(before);
  });

  it('reports that keys are exhausted, and reuses freed keys', () => {
    const { device, host, domain } = makeHost({ memoryKeys: 3 });
    const keys = [register(host, domain), register(host, domain)];
    expect(registerFields(host, domain)).toMatchObject({
      status: noResources,
      resource: Resource.memoryKeys,
      asked: 1,
      left: 0,
    });
    expect(deregister(host, keys[0]!).status).toBe(success);
    const again = register(host, domain);
    expect(again >>> 8).toBe(keys[0]! >>> 8);
    expect(again).not.toBe(keys[0]);
    expect(device.port.verify()).toBeNull();
  });

  it('allocates nothing when context memory is not accessible', () => {
    const { device, host, domain } = makeHost();
    const before = holdings(device);
    const begin = device.address(device.contextMemory);
    device.port.setFaults([
      { underlyingFunction: 0, begin, end: begin + BigInt(device.port.contextMemoryNeeded()) },
    ]);
    expect(registerFields(host, domain).status).toBe(contextMemoryFault);
    expect(holdings(device)).toEqual(before);
  });
});

/** A device whose page tables are long enough for 2^17 pages. */
function makeBig(): ReturnType<typeof makeHost> {
  const device = new ManagedDevice({ pageTableEntries: 1 << 17, memoryBytes: 8 << 20 });
  const host = new ManagedFunction(device, 1, 3, 300);
  return { device, host, domain: host.createProtectionDomain() };
}

describe('an access with a key', () => {
  it('to all of the region is allowed', () => {
    const { check } = makeRegion();
    expect(check()).toBe(AccessFault.none);
    expect(check({ rights: localWrite | remoteRead })).toBe(AccessFault.none);
  });

  it('no key, another variant, a former key, or one of another function: unknown', () => {
    const { host, key, check } = makeRegion();
    for (const wrong of [0, 0xff, key + 1, key - 1, key + 0x100, 0xffff_ffff])
      expect(check({ key: wrong })).toBe(AccessFault.unknownKey);
    for (const underlyingFunction of [0, 2])
      expect(check({ underlyingFunction })).toBe(AccessFault.unknownKey);
    expect(deregister(host, key).status).toBe(success);
    expect(check()).toBe(AccessFault.unknownKey);
  });

  it('of another protection domain is refused', () => {
    const { host, domain, check } = makeRegion();
    const other = host.createProtectionDomain();
    for (const protectionDomain of [0, other, domain | 0x80_0000])
      expect(check({ protectionDomain })).toBe(AccessFault.otherDomain);
  });

  it.each([remoteWrite, remoteAtomic, remoteWrite | remoteRead, bit(AccessFlag.memoryWindowBind)])(
    'needs all of the rights %i',
    (rights) => {
      expect(makeRegion().check({ rights })).toBe(AccessFault.missingRight);
      const all = localWrite | remoteWrite | remoteRead | remoteAtomic | bit(AccessFlag.memoryWindowBind);
      expect(makeRegion({ access_flags: all }).check({ rights })).toBe(AccessFault.none);
    },
  );

  it('of 0 bytes is allowed with any key', () => {
    const { check } = makeRegion();
    const access = { length: 0n, key: 0, protectionDomain: 0, rights: remoteWrite, address: 1n };
    expect(check(access)).toBe(AccessFault.none);
  });

  it.each([0x7000_0064n, 0n, 1n, 2n ** 64n - 5000n])('stays within the bounds of a region at %i', (base) => {
    const { check } = makeRegion({ base });
    const range = (from: bigint, length: bigint): number =>
      check({ address: BigInt.asUintN(64, base + from), length });
    expect(range(0n, 5000n)).toBe(AccessFault.none);
    expect(range(4999n, 1n)).toBe(AccessFault.none);
    expect(range(0n, 5001n)).toBe(AccessFault.outOfBounds);
    expect(range(1n, 5000n)).toBe(AccessFault.outOfBounds);
    expect(range(5000n, 1n)).toBe(AccessFault.outOfBounds);
    expect(range(-1n, 1n)).toBe(AccessFault.outOfBounds);
    expect(range(-1n, 5000n)).toBe(AccessFault.outOfBounds);
    // Address and length whose sum wraps around 2^64 into the region.
    expect(range(1n, 2n ** 64n - 1n)).toBe(AccessFault.outOfBounds);
    expect(range(4999n, 2n ** 64n - 4999n)).toBe(AccessFault.outOfBounds);
  });

  it('agrees with plain arithmetic on ranges of whole numbers', () => {
    const word = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const { device, host, domain } = makeHost();
    fc.assert(
      fc.property(word, fc.bigInt({ min: 1n, max: 8192n - 100n }), word, word, (low, length, far, near) => {
        const base = low > 2n ** 64n - length ? 2n ** 64n - length : low;
        const key = register(host, domain, { base, length });
        for (const address of [far, BigInt.asUintN(64, base + (near % (length * 2n)) - length / 2n)])
          for (const bytes of [1n + (near % length), length, 1n + far / 2n]) {
            const inside = address >= base && address + bytes <= base + length;
            const access = { underlyingFunction: 1, protectionDomain: domain, key, rights: 0 };
            expect(device.port.checkAccess({ ...access, address, length: bytes })).toBe(
              inside ? AccessFault.none : AccessFault.outOfBounds,
            );
          }
        expect(deregister(host, key).status).toBe(success);
      }),
      { numRuns: 200 },
    );
  });

  it('is refused if its entry cannot be read', () => {
    // The 257th key has the place of the first in the cache of entries.
    const { device, host, domain } = makeHost({ memoryKeys: 512, pageTableEntries: 4096 });
    const keys = Array.from({ length: 257 }, () => register(host, domain));
    const begin = device.address(device.contextMemory);
    device.port.setFaults([
      { underlyingFunction: 0, begin, end: begin + BigInt(device.port.contextMemoryNeeded()) },
    ]);
    const access = { underlyingFunction: 1, protectionDomain: domain, address: region.base, length: 1n };
    expect(device.port.checkAccess({ ...access, key: keys[256]!, rights: 0 })).toBe(AccessFault.none);
    expect(deregister(host, keys[256]!).status).toBe(success);
    expect(device.port.checkAccess({ ...access, key: keys[0]!, rights: 0 })).toBe(AccessFault.unreachable);
    expect(deregister(host, keys[0]!).status).toBe(contextMemoryFault);
  });
});

describe('deregister_memory', () => {
  it('refuses keys of other functions', () => {
    const { device, host, domain } = makeHost();
    const key = register(host, domain);
    const other = new ManagedFunction(device, 2);
    expect(deregister(other, key).status).toBe(badObject);
    for (const wrong of [0, key + 1, key + 0x100, 0xffff_ff00])
      expect(deregister(host, wrong).status).toBe(badObject);
  });

  it('answers when the last access in flight has ended; new ones are refused meanwhile', () => {
    const { device, host, key, check } = makeRegion();
    device.port.beginAccess(key);
    device.port.beginAccess(key);
    host.post(deregisterMemory, { input_modifier: key });
    host.ring();
    device.runUntilIdle();
    expect(check()).toBe(AccessFault.unknownKey);
    expect(check({ begun: true })).toBe(AccessFault.none);
    expect(deregister(host, key).status).toBe(badState);
    device.port.endAccess(key);
    device.runUntilIdle();
    expect(host.takeAnswers()).toEqual([]);
    device.port.endAccess(key);
    device.runUntilIdle();
    expect(host.takeAnswers()).toMatchObject([{ opcode: deregisterMemory, status: success }]);
    expect(check({ begun: true })).toBe(AccessFault.unknownKey);
    device.port.endAccess(key); // of a key that is gone
    expect(device.port.verify()).toBeNull();
  });

  it('does not delay later commands', () => {
    const { device, host, domain, key } = makeRegion();
    const free = register(host, domain);
    device.port.beginAccess(key);
    host.post(deregisterMemory, { input_modifier: key, token: 1 });
    host.post(deregisterMemory, { input_modifier: free, token: 2 });
    host.post(ManagementOpcode.createProtectionDomain, { token: 3 });
    host.ring();
    device.runUntilIdle();
    device.port.endAccess(key);
    device.runUntilIdle();
    const tokens = host.takeAnswers().map(({ token }) => token);
    expect(tokens.sort((a, b) => a - b)).toEqual([1, 2, 3]);
    expect(device.port.verify()).toBeNull();
  });

  it('ends with a reset of the function, which destroys its keys and no others', () => {
    const device = new ManagedDevice();
    const before = holdings(device);
    const [host, other] = [1, 2].map((number) => new ManagedFunction(device, number)) as [
      ManagedFunction,
      ManagedFunction,
    ];
    const domain = host.createProtectionDomain();
    const [key, quiet] = [register(host, domain), register(host, domain)];
    const others = other.createProtectionDomain();
    const kept = register(other, others);
    device.port.beginAccess(key);
    for (const input_modifier of [key, quiet]) host.post(deregisterMemory, { input_modifier });
    host.ring();
    for (let steps = 0; steps < 2; ++steps) device.port.step();
    device.port.resetFunction(1);
    device.port.endAccess(key);
    device.runUntilIdle();
    expect(device.port.verify()).toBeNull();
    const access = { address: region.base, length: 1n, rights: 0 };
    const check = (underlyingFunction: number, protectionDomain: number, named: number): number =>
      device.port.checkAccess({ underlyingFunction, protectionDomain, key: named, ...access });
    expect(check(1, domain, key)).toBe(AccessFault.unknownKey);
    expect(check(1, domain, quiet)).toBe(AccessFault.unknownKey);
    expect(check(2, others, kept)).toBe(AccessFault.none);
    host.begin();
    const again = host.createProtectionDomain();
    expect(deregister(host, register(host, again)).status).toBe(success);
    expect(deregister(other, kept).status).toBe(success);
    expect(holdings(device)).toEqual(before);
  });
});

describe('the place of an address', () => {
  it('is found in pages of any size, from any offset in the first', () => {
    const { device, host, domain } = makeHost();
    const pageLog2 = fc.integer({ min: 12, max: 31 });
    const fraction = fc.double({ min: 0, max: 0.999_999, noNaN: true });
    fc.assert(
      fc.property(pageLog2, fc.integer({ min: 1, max: 9 }), fraction, fraction, (log2, pages, begin, at) => {
        const pageBytes = 2n ** BigInt(log2);
        const offset = Math.floor(Number(pageBytes) * begin);
        const length = BigInt(pages) * pageBytes - BigInt(offset);
        const base = 0x1234_5678_9abcn;
        const key = register(host, domain, {
          page_log2: log2,
          pages,
          first_page_offset: offset,
          length,
          base,
        });
        const place = BigInt(Math.floor(Number(length) * at));
        const within = (BigInt(offset) + place) % pageBytes;
        // pageList() returns consecutive DMA pages from 0x1000 on.
        const page = 0x1000n + (BigInt(offset) + place) / pageBytes;
        expect(device.port.locate(1, key, base + place)).toEqual({
          address: page * 4096n + within,
          bytes: pageBytes - within,
        });
        expect(device.port.locate(2, key, base + place)).toBeNull();
        expect(deregister(host, key).status).toBe(success);
      }),
      { numRuns: 300 },
    );
  });
});
