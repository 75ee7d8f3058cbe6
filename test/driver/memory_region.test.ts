import { expect, it, vi } from 'vitest';

import { mapForeignMemory } from '../../lib/driver/foreign_memory.ts';
import { MemoryRegion } from '../../lib/driver/memory_region.ts';
import { ProtectionDomain } from '../../lib/driver/protection_domain.ts';
import { AccessFlag } from '../../lib/spec/index.ts';
import { describeOnBackends, makeBoard, openDriver } from '../helpers/backends.ts';

const localWrite = 1 << AccessFlag.localWrite;
const remoteWrite = 1 << AccessFlag.remoteWrite;
const remoteRead = 1 << AccessFlag.remoteRead;

describeOnBackends('memory regions', (backend) => {
  it('have their own keys, hold their protection domain, and return keys', () => {
    const { management, device, limits } = openDriver(makeBoard(backend));
    expect(limits.memoryKeys).toBe(255);
    const domain = new ProtectionDomain(management);
    const memory = device.allocate(3 * 4096);
    const range = { address: memory.address + 100n, length: 5000 };
    const regions = Array.from(
      { length: limits.memoryKeys },
      () => new MemoryRegion(management, domain, range, localWrite | remoteWrite),
    );
    expect(new Set(regions.map(({ key }) => key)).size).toBe(limits.memoryKeys);
    expect(() => new MemoryRegion(management, domain, range, 0)).toThrow(
      expect.objectContaining({ code: 'ENOMEM', verb: 'registerMemory', attribute: 'memoryKeys' }),
    );
    expect(() => domain.destroy()).toThrow(expect.objectContaining({ code: 'EBUSY' }));
    for (const region of regions) region.deregister();
    expect(() => regions[0]!.deregister()).toThrow(
      expect.objectContaining({ code: 'EINVAL', verb: 'deregisterMemory' }),
    );
    domain.destroy();
  });

  it('cover ranges of any alignment and length by few pages', () => {
    const { management } = openDriver(makeBoard(backend));
    const domain = new ProtectionDomain(management);
    // The device does not read the memory before it is used.
    for (const [address, length] of [
      [0x1_0000_0000n, 1],
      [0x1_0000_0fffn, 2],
      [0x1_7fff_ffffn, 2],
      [0x1_2345_6789n, 2 ** 31],
      [0n, 2 ** 40],
      [2n ** 64n - 5n, 5],
    ] as const) {
      new MemoryRegion(management, domain, { address, length }, 0).deregister();
    }
  });

  it('refuse contradictory rights, and empty ranges', () => {
    const { management, device } = openDriver(makeBoard(backend));
    const domain = new ProtectionDomain(management);
    const { address } = device.allocate(4096);
    expect(() => new MemoryRegion(management, domain, { address, length: 64 }, remoteWrite)).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'access' }),
    );
    expect(() => new MemoryRegion(management, domain, { address, length: 0 }, 0)).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'length' }),
    );
  });

  if (backend.isServed !== true)
    it('can cover foreign memory, unless it may be freed', () => {
      const { management, device } = openDriver(makeBoard(backend));
      const domain = new ProtectionDomain(management);
      const view = new Uint8Array(new ArrayBuffer(10_000), 77, 9000);
      const map = vi.spyOn(device.board, 'map');
      const { range } = mapForeignMemory(device, view, localWrite);
      device.board.unmap(mapForeignMemory(device, view, remoteRead).range.address);
      expect(map.mock.calls.map(([, rights]) => rights)).toEqual(['read_write', 'read']);
      expect(range.length).toBe(9000);
      new MemoryRegion(management, domain, range, localWrite).deregister();
      device.board.unmap(range.address);
      const options = { maxByteLength: 8192 };
      const resizable = new (ArrayBuffer as new (bytes: number, options: object) => ArrayBuffer)(
        4096,
        options,
      );
      for (const wrong of [resizable, new ArrayBuffer(0), new Uint8Array(new SharedArrayBuffer(64))]) {
        expect(() => mapForeignMemory(device, wrong, 0)).toThrow(TypeError);
      }
    });
});
