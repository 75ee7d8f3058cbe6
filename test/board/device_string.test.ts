import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';

import {
  BackendMissingError,
  DeviceStringError,
  chosenDeviceString,
  formatDeviceString,
  openBoard,
  parseDeviceString,
  type DeviceName,
} from '../../lib/board/index.ts';

afterEach(() => vi.unstubAllEnvs());

describe('a device string', () => {
  it.each<[string, DeviceName]>([
    ['emu:', { backend: 'emu', underlyingFunction: 0, options: {} }],
    ['emu', { backend: 'emu', underlyingFunction: 0, options: {} }],
    ['emu:3', { backend: 'emu', underlyingFunction: 3, options: {} }],
    [
      'emu:1?progress=own&seed=7&name=a%26b&doubleWordOnly=true',
      {
        backend: 'emu',
        underlyingFunction: 1,
        options: { progress: 'own', seed: 7, name: 'a&b', doubleWordOnly: true },
      },
    ],
    ['rtl:?ports=2', { backend: 'rtl', underlyingFunction: 0, options: { ports: 2 } }],
    [
      'emu:?linkLoss=0.01&linkReordering=1e-7&linkDelay=500',
      {
        backend: 'emu',
        underlyingFunction: 0,
        options: { linkLoss: 0.01, linkReordering: 1e-7, linkDelay: 500 },
      },
    ],
    ['serve:/run/hca', { backend: 'serve', path: '/run/hca', underlyingFunction: undefined }],
    ['serve:lab/7', { backend: 'serve', path: 'lab', underlyingFunction: 7 }],
    ['serve:/run/hca/2', { backend: 'serve', path: '/run/hca', underlyingFunction: 2 }],
    ['pci:0000:3B:00.1', { backend: 'pci', address: '0000:3b:00.1' }],
    ['vfio:0001:00:1f.7', { backend: 'vfio', address: '0001:00:1f.7' }],
  ])('%s', (text, name) => {
    expect(parseDeviceString(text)).toEqual(name);
    expect(parseDeviceString(formatDeviceString(name))).toEqual(name);
  });

  it.each([
    ['usb:1', /no backend "usb"; expected: one of emu:/],
    ['emu:x', /underlying function "x"; expected: a whole number/],
    ['emu:?speed=3', /no option "speed"; expected: one of name, progress,/],
    ['emu:?progress=fast', /progress=fast; expected: shared, own, stepped/],
    ['emu:?seed=-1', /seed=-1; expected: a whole number/],
    ['emu:?seed=1&seed=2', /option "seed" twice/],
    ['emu:?seed', /option "seed" without a value; expected: seed=/],
    ['emu:?name=', /an empty name/],
    ['emu:?doubleWordOnly=1', /doubleWordOnly=1; expected: true or false/],
    ['emu:?linkLoss=2', /linkLoss=2; expected: a number from 0 to 1/],
    ['emu:?linkLoss=-0.1', /linkLoss=-0.1; expected: a number from 0 to 1/],
    ['emu:?name=%zz', /% followed by two hexadecimal digits/],
    ['serve:1', /expected: serve:PATH\/UF/],
    ['serve:', /expected: serve:PATH\/UF/],
    ['serve:lab/', /expected: serve:PATH\/UF/],
    ['serve:lab/4711', /underlying function "4711"; expected: a whole number/],
    ['pci:3b:00.0', /PCI address "3b:00.0"; expected: DDDD:BB:DD.F/],
    ['vfio:0000:3b:00.9', /PCI address "0000:3b:00.9"/],
  ])('%s is refused, and the error names the wrong part', (text, message) => {
    expect(() => parseDeviceString(text)).toThrow(DeviceStringError);
    expect(() => parseDeviceString(text)).toThrow(message);
    expect(() => parseDeviceString(text)).toThrow(`device "${text}"`);
  });

  it('is parsed to the options that it was formatted from', () => {
    const name = fc.record({
      backend: fc.constant('emu' as const),
      underlyingFunction: fc.nat({ max: 7 }),
      options: fc.record(
        {
          name: fc.string({ minLength: 1, unit: 'grapheme' }),
          progress: fc.constantFrom('shared' as const, 'own' as const, 'stepped' as const),
          seed: fc.nat(),
          doubleWordOnly: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    });
    fc.assert(
      fc.property(name, (each) => {
        expect(parseDeviceString(formatDeviceString(each))).toEqual(each);
      }),
    );
  });

  it('defaults to the one of the environment, then to emu:', () => {
    vi.stubEnv('FPGA_VERBS_DEVICE', '');
    expect(chosenDeviceString()).toBe('emu:');
    vi.stubEnv('FPGA_VERBS_DEVICE', 'emu:2');
    expect(chosenDeviceString()).toBe('emu:2');
    expect(chosenDeviceString('emu:1')).toBe('emu:1');
  });
});

describe('opening a board by a device string', () => {
  it('names the command that builds the rtl: addon if it is missing', () => {
    if (existsSync('build/Release/fpga_verbs_rtl.node')) return; // the tests of RTL build it
    expect(() => openBoard(parseDeviceString('rtl:'))).toThrow(BackendMissingError);
    expect(() => openBoard(parseDeviceString('rtl:'))).toThrow('npm run fpga:addon');
  });

  it('opens a new board, or the open board with the given name', () => {
    const facts = (text: string): unknown => {
      const opened = openBoard(parseDeviceString(text));
      const { underlyingFunction } = opened.facts();
      opened.close();
      return underlyingFunction;
    };
    expect(facts('emu:5')).toBe(5);
    const first = openBoard(parseDeviceString('emu:?name=shared-board&seed=3'));
    const second = openBoard(parseDeviceString('emu:1?name=shared-board&seed=3'));
    expect(() => openBoard(parseDeviceString('emu:?name=shared-board&seed=4'))).toThrow(/other options/);
    first.close();
    second.close();
    expect(() => openBoard(parseDeviceString('emu:9'))).toThrow(/does not exist/);
  });
});

it('a sparse array is refused as a device string without being scanned', () => {
  const holes = Object.assign([], { length: 2 ** 32 - 1 }) as unknown as string;
  expect(() => parseDeviceString(holes)).toThrow('a device string must be a string, got object');
});
