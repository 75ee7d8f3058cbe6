import { describe, expect, it } from 'vitest';

import type { BoardFunction } from '../../lib/board/addon.ts';
import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { VerbsError } from '../../lib/driver/errors.ts';
import {
  IDENTITY_MAGIC_OFFSET,
  IDENTITY_REGIONS_OFFSET,
  IDENTITY_REGION_ENTRIES_OFFSET,
  IDENTITY_REGION_OFFSET,
  IDENTITY_REGION_STRIDE,
  IDENTITY_VERSION_OFFSET,
  UNDERLYING_FUNCTION_STATUS_OFFSET,
} from '../../lib/spec/index.ts';
import {
  backends,
  closing,
  describeOnBackends,
  makeBoard,
  openDriver,
  withReads,
} from '../helpers/backends.ts';

const stepped = backends.find(({ options }) => options.progress === 'stepped')!;

/** The error that a call throws. */
function errorOf(call: () => unknown): VerbsError {
  try {
    call();
  } catch (error) {
    if (error instanceof VerbsError) return error;
    throw error;
  }
  throw new Error('a VerbsError was expected');
}

describeOnBackends('opening a function', (backend) => {
  it('identifies the board, enables it, and reads its limits', () => {
    const { device, limits } = openDriver(makeBoard(backend, { virtualCollectBuffers: 128 }));
    expect(device.identity).toMatchObject({
      version: { major: 1, minor: 0 },
      design: 1,
      boardName: 'fpga-verbs emulated board',
      virtualCollectBuffers: 128,
      physicalCollectBuffers: 64,
      dedicatedPhysicalCollectBuffers: 8,
      managementPhysicalCollectBuffers: 2,
      queuePairs: 256,
      clockFrequency: 1_000_000_000,
      capabilities: { scoreboardVariant: 'masked', doubleWordOnly: false, rtlBlocks: [] },
    });
    expect(limits).toMatchObject({ eventQueues: 8, queuePairs: 254, queueEntriesMaximum: 32768 });
    expect(device.regions.all.map(({ bar, prefetchable }) => [bar, prefetchable])).toContainEqual([2, true]);
  });

  it('serves every function of a board with its own driver', () => {
    const board = makeBoard(backend, { underlyingFunctions: 3 });
    const drivers = [0, 1, 2].map((number) => openDriver(board, number));
    expect(drivers.map(({ device }) => device.underlyingFunction)).toEqual([0, 1, 2]);
    expect(drivers.map(({ device }) => device.controlPage !== undefined)).toEqual([true, false, false]);
  });

  it('opens a closed function again', () => {
    const board = makeBoard(backend);
    openDriver(board);
    for (let times = 0; times < 3; times++) {
      const guest = openDriver(board, 1);
      guest.close();
      guest.close();
      expect(guest.closed).toBe(true);
      expect(() => guest.device.page.read32(UNDERLYING_FUNCTION_STATUS_OFFSET)).toThrow(/closed/);
    }
  });

  if (backend.isServed !== true)
    it('refuses a second driver of a function', () => {
      const board = makeBoard(backend);
      openDriver(board);
      // On PCIe the kernel refuses it before the device is accessed.
      const message = /^underlying function 0 already has a driver$|: Device or resource busy; /;
      expect(() => new HcaDriver(board.open(0))).toThrow(
        expect.objectContaining({ code: 'EBUSY', message: expect.stringMatching(message) as string }),
      );
    });

  it('refuses a guest while the device is not enabled, and after its control function closed', () => {
    const board = makeBoard(backend);
    const refuse = (): void => {
      const error = errorOf(() => new HcaDriver(board.open(1)));
      expect([error.code, error.expected]).toEqual([
        'ENODEV',
        'underlying function 0 open: it gives the device its memory and enables it',
      ]);
    };
    refuse();
    openDriver(board).close();
    refuse();
  });

  it('detects a removed device, before and after open', () => {
    const board = makeBoard(backend);
    const driver = openDriver(board);
    board.inject({ kind: 'read_all_ones', count: 0 });
    expect(errorOf(() => new HcaDriver(board.open(1)))).toMatchObject({
      code: 'ENODEV',
      message: 'the device is gone: all ones are read back from its registers',
    });
    expect(errorOf(() => driver.device.page.read32(UNDERLYING_FUNCTION_STATUS_OFFSET)).code).toBe('ENODEV');
    board.inject({ kind: 'drop', count: 0 });
    const opcode = 64; // query_function: its doorbell is lost, so only a read detects the removal
    expect(errorOf(() => driver.management.execute({ verb: 'queryDevice', opcode })).code).toBe('ENODEV');
    expect(() => driver.close()).not.toThrow();
  });
});

describe('the number of a function', () => {
  /** As the backend reports it for a PCI function in a slot of its own. */
  const told = (opened: BoardFunction): BoardFunction =>
    new Proxy(opened, {
      get: (target, property) => {
        if (property === 'facts') return () => ({ ...target.facts(), underlyingFunction: 0 });
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });

  it('comes from its status register, not from the backend', () => {
    const board = makeBoard(stepped);
    openDriver(board);
    for (const number of [1, 7]) {
      const { device, limits } = closing(new HcaDriver(told(board.open(number))));
      expect([device.underlyingFunction, device.controlPage]).toEqual([number, undefined]);
      expect(limits.queuePairs).toBeGreaterThan(0);
    }
    expect(openDriver(makeBoard(stepped)).device.underlyingFunction).toBe(0);
  });
});

describe('an unsupported board is refused with the reason', () => {
  const at = (offset: number, value: number) => (bar: number, read: number) =>
    bar === 0 && read === offset ? value : undefined;
  const region = (index: number, offset: number): number => offset + index * IDENTITY_REGION_STRIDE;

  it.each([
    [
      'another magic number',
      at(IDENTITY_MAGIC_OFFSET, 0x8086),
      'BAR 0 begins with 0x00008086, not 0x43485646',
    ],
    ['another major version', at(IDENTITY_VERSION_OFFSET, 2 << 16), 'has major version 2; expected: 1'],
    ['no regions', at(IDENTITY_REGIONS_OFFSET, 0), 'it has no region RegionType.underlyingFunction'],
    [
      'no register pages',
      at(region(2, IDENTITY_REGION_OFFSET), 0),
      'it has no region RegionType.underlyingFunction',
    ],
    [
      'no collect buffers',
      at(region(3, IDENTITY_REGION_OFFSET), 0),
      'it has no region RegionType.virtualCollectBuffer',
    ],
    [
      'pages beyond the region',
      at(region(3, IDENTITY_REGION_ENTRIES_OFFSET), 1 << 30),
      'a region that holds its pages',
    ],
  ])('%s', (_, reads, message) => {
    const board = makeBoard(stepped);
    const opened = closing(board.open(0));
    const error = errorOf(() => new HcaDriver(withReads(opened, reads)));
    expect(error.code).toBe('ENOTSUP');
    expect(error.message).toContain(message);
    // It was closed.
    expect(() => opened.read32(0, 0)).toThrow(/closed/);
  });

  it('accepts a later minor version', () => {
    const board = makeBoard(stepped);
    const driver = closing(
      new HcaDriver(withReads(board.open(0), at(IDENTITY_VERSION_OFFSET, (1 << 16) | 7))),
    );
    expect(driver.device.identity.version).toEqual({ major: 1, minor: 7 });
  });
});
