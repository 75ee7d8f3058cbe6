// A function of VFIO, with a stand-in for the kernel that follows its documents; accesses to the device's own
// regions go to files.
import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { BoardFunction } from '../../lib/board/index.ts';
import { openVfioFunction, useVfioStandIn, type VfioStandIn } from './pci_port.ts';

const configuration = 0x10000;
const commandRegister = configuration + 4;
const allOnes = 0xffff_ffff;
/** The range of message signaled interrupts, which the IOMMU does not map. */
const hole = { first: 0xfee0_0000n, last: 0xfeef_ffffn };

const ways = ['iommufd', 'group'] as const;
type Way = (typeof ways)[number];

interface Machine {
  readonly kernel: VfioStandIn;
  readonly device: string;
  readonly setup: Parameters<typeof openVfioFunction>[0];
  open(): BoardFunction;
}

function machine(way: Way, options: Partial<Parameters<typeof useVfioStandIn>[0]> = {}): Machine {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-vfio-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const names = ['container', 'group', ...(way === 'iommufd' ? ['iommu', 'cdev'] : ['device'])];
  const paths = Object.fromEntries(names.map((name) => [name, path.join(folder, name)]));
  for (const name of names) writeFileSync(paths[name]!, '');
  const device = paths['cdev'] ?? paths['device']!;
  truncateSync(device, configuration + 256);
  const kernel = useVfioStandIn({ paths, ...options });
  const setup = {
    ...(way === 'iommufd' && { iommuPath: paths['iommu']!, devicePath: paths['cdev']! }),
    containerPath: paths['container']!,
    groupPath: paths['group']!,
    address: '0000:01:00.0',
    underlyingFunction: 0,
  };
  const open = (): BoardFunction => {
    const board = openVfioFunction(setup);
    onTestFinished(() => board.close());
    return board;
  };
  return { kernel, device, setup, open };
}

const isMaster = ({ device }: Machine): boolean => (readFileSync(device)[commandRegister]! & 4) !== 0;

/** Descriptors and mappings that this process has of a file. */
function held(file: string): number {
  const open = readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file;
    } catch {
      return false; // the descriptor of the folder itself
    }
  });
  const mapped = readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(file));
  return open.length + mapped.length;
}

/** The reason of the removal, and what the process holds of the device during the callback; resolves after the cleanup. */
const told = (board: BoardFunction, device: string): Promise<[reason: string | undefined, held: number]> =>
  new Promise((resolve) => {
    const interrupt = board.removal((reason) => {
      const heldThen = held(device);
      setImmediate(() => resolve([reason, heldThen]));
    })!;
    interrupt.ref();
  });

describe.each(ways)('vfio: through %s', (way) => {
  it('is bus master with its vectors while it is open, and not after closing', () => {
    const one = machine(way);
    const board = one.open();
    expect(board.facts()).toMatchObject({ backend: 'vfio', interruptVectors: 2 });
    expect(isMaster(one)).toBe(true);
    board.write32(0, 8, 0x1234_5678);
    expect(board.read32(0, 8)).toBe(0x1234_5678);
    expect(readFileSync(one.device).readUInt32LE(8)).toBe(0x1234_5678);
    board.close();
    expect(isMaster(one)).toBe(false);
    expect(held(one.device)).toBe(0);
  });

  it('maps memory by whole pages, with its rights, at addresses that the IOMMU accepts', () => {
    const { kernel, open } = machine(way);
    const board = open();
    const foreign = new Uint8Array(new ArrayBuffer(3 * 4096), 100, 5000);
    const address = board.map(foreign, 'read');
    const memory = board.allocateMemory(8192);
    const mappings = kernel.mappings();
    expect(mappings).toHaveLength(2);
    const ofForeign = mappings.find(({ rights }) => rights === 'r')!;
    expect(ofForeign.bytes % 4096).toBe(0);
    expect(ofForeign.address).toBe(address - (address % 4096n));
    expect(ofForeign.memory % 4096n).toBe(0n);
    expect(mappings.find(({ rights }) => rights === 'rw')).toMatchObject({
      address: memory.address,
      bytes: 8192,
    });
    board.unmap(address);
    memory.free();
    expect(kernel.mappings()).toEqual([]);
  });

  it("allocates addresses within the device's width and outside the interrupt range", () => {
    const { kernel, setup } = machine(way);
    const board = openVfioFunction({ ...setup, addressBits: 32 });
    onTestFinished(() => board.close());
    // The sizes fill all addresses below the hole; the last allocation lies after it.
    const sizes = [2 ** 30, 2 ** 30, 2 ** 30, Number(hole.first) - 3 * 2 ** 30 - 4096 - 2 ** 20, 2 ** 24];
    for (const bytes of sizes) board.allocateMemory(bytes);
    for (const { address, bytes } of kernel.mappings()) {
      const last = address + BigInt(bytes) - 1n;
      expect(last).toBeLessThan(2n ** 32n);
      expect(last < hole.first || address > hole.last).toBe(true);
    }
    expect(kernel.mappings()).toHaveLength(sizes.length);
    expect(kernel.mappings().at(-1)!.address).toBeGreaterThan(hole.last);
    expect(() => board.allocateMemory(2 ** 24)).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
  });

  it.each([
    ['request', 'the kernel requests the function back, for removal or to unbind it from vfio-pci'],
    ['error', 'the function has reported an uncorrected error (PCIe AER)'],
  ] as const)('is released after its %s interrupt, once its users have been told', async (name, reason) => {
    const one = machine(way);
    const board = one.open();
    const memory = board.allocateMemory(4096);
    new Uint8Array(memory.buffer).fill(7);
    const telling = told(board, one.device);
    expect(one.kernel.signal(name)).toBe(true);
    const [why, heldThen] = await telling;
    expect(why).toBe(reason);
    expect(heldThen).toBeGreaterThan(0);
    // Bus mastering is off and all files are closed, so the kernel can go on; the memory stays.
    expect(isMaster(one)).toBe(false);
    expect(held(one.device)).toBe(0);
    expect(board.read32(0, 8)).toBe(allOnes);
    board.write32(0, 8, 1);
    expect(readFileSync(one.device).readUInt32LE(8)).toBe(0);
    expect(new Uint8Array(memory.buffer)[4095]).toBe(7);
    expect(() => board.map(new ArrayBuffer(4096))).toThrow(/the device is gone/);
    memory.free();
    board.close();
  });

  it('may be closed in the callback of a request interrupt', async () => {
    const one = machine(way);
    const board = one.open();
    await new Promise<void>((resolve) => {
      const interrupt = board.removal(() => {
        board.close();
        resolve();
      })!;
      interrupt.ref();
      one.kernel.signal('request');
    });
    expect(held(one.device)).toBe(0);
  });

  it('reads all ones after its BAR is removed, and reports the removal', async () => {
    const one = machine(way);
    const board = one.open();
    board.write32(0, 8, 5);
    const telling = told(board, one.device);
    truncateSync(one.device, 0);
    expect(board.read32(0, 8)).toBe(allOnes);
    board.write32(0, 8, 6);
    expect(board.read32(0, 8)).toBe(allOnes);
    expect((await telling)[0]).toMatch(/its BARs do not answer/);
    expect(held(one.device)).toBe(0);
  });

  it('is not opened if it cannot become bus master', () => {
    const one = machine(way, { hasConfiguration: false });
    expect(() => one.open()).toThrow(
      expect.objectContaining({
        errno: constants.errno.EIO,
        message: expect.stringContaining('0000:01:00.0 cannot be made bus master') as string,
      }),
    );
    expect(held(one.device)).toBe(0);
  });
});

describe('vfio: without usable iommufd files', () => {
  it('is opened through its group if one of the files is missing', () => {
    const one = machine('group');
    const iommuPath = path.join(path.dirname(one.device), 'nothing');
    const board = openVfioFunction({ ...one.setup, iommuPath, devicePath: one.device });
    onTestFinished(() => board.close());
    expect(isMaster(one)).toBe(true);
    board.allocateMemory(4096);
    expect(one.kernel.mappings()).toHaveLength(1);
  });

  it('is opened through its group if the kernel cannot bind it to iommufd', () => {
    const one = machine('iommufd', { refusedBind: constants.errno.ENOTTY });
    // The stand-in provides the device through the group only.
    expect(() => one.open()).toThrow(/0000:01:00.0 is not available from its group/);
  });

  it.each([
    ['EBUSY', /no other process has the function open/],
    ['EPERM', /allow_unsafe_interrupts of iommufd/],
  ] as const)('reports why it is refused: %s', (code, message) => {
    const one = machine('iommufd', { refusedBind: constants.errno[code] });
    expect(() => one.open()).toThrow(
      expect.objectContaining({
        errno: constants.errno[code],
        message: expect.stringMatching(message) as string,
      }),
    );
    expect(held(one.device)).toBe(0);
  });

  it('cannot be opened twice', () => {
    const one = machine('iommufd');
    one.open();
    expect(() => one.open()).toThrow(
      /is not bound to the iommufd: Invalid argument; expected: no other process/,
    );
  });
});
