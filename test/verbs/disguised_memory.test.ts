// Memory whose object claims another size or place than the engine knows: the device gets the real one.
import { describe, expect, it } from 'vitest';

import { describeInProcess } from '../helpers/backends.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

const resizable = (): ArrayBuffer =>
  Reflect.construct(ArrayBuffer, [64, { maxByteLength: 65_536 }]) as ArrayBuffer;
const webAssembly = (): ArrayBuffer => new WebAssembly.Memory({ initial: 1, maximum: 2 }).buffer;
const dressed = <Of extends object>(object: Of, properties: Record<string, unknown>): Of =>
  Object.defineProperties(
    object,
    Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, { value }])),
  );
const ordinary = { byteLength: 4096, byteOffset: 0, buffer: new ArrayBuffer(4096) };

class Fixed extends ArrayBuffer {
  get resizable(): boolean {
    return false;
  }
}

const refused: readonly (readonly [string, () => unknown, RegExp])[] = [
  ['a resizable one that has resizable false', () => dressed(resizable(), { resizable: false }), /resizable/],
  [
    'a resizable one that has maxByteLength',
    () => dressed(resizable(), { maxByteLength: 64, resizable: false }),
    /resizable/,
  ],
  [
    'a resizable one of a class that is not',
    () => Reflect.construct(Fixed, [64, { maxByteLength: 128 }]) as unknown,
    /resizable/,
  ],
  [
    'a resizable one without prototype',
    () => Object.setPrototypeOf(resizable(), null) as unknown,
    /resizable/,
  ],
  [
    'a view of a resizable one that has another buffer',
    () => dressed(new Uint8Array(resizable()), ordinary),
    /resizable/,
  ],
  [
    'a DataView of a resizable one that has another buffer',
    () => dressed(new DataView(resizable()), ordinary),
    /resizable/,
  ],
  [
    'a view of shared memory that has another buffer',
    () => dressed(new Uint8Array(new SharedArrayBuffer(64)), ordinary),
    /SharedArrayBuffer/,
  ],
  [
    'shared memory that grows',
    () => Reflect.construct(SharedArrayBuffer, [64, { maxByteLength: 128 }]) as unknown,
    /must be an ArrayBuffer/,
  ],
  [
    'WebAssembly without prototype',
    () => Object.setPrototypeOf(webAssembly(), null) as unknown,
    /WebAssembly/,
  ],
  ['WebAssembly that has byteLength', () => dressed(webAssembly(), { byteLength: 1 }), /WebAssembly/],
  ['a view of WebAssembly', () => dressed(new Uint8Array(webAssembly(), 4, 4), ordinary), /WebAssembly/],
  ['a proxy of a buffer', () => new Proxy(new ArrayBuffer(64), {}), /must be an ArrayBuffer/],
  ['a proxy of a view', () => new Proxy(new Uint8Array(64), {}), /must be an ArrayBuffer/],
  [
    'an object that looks like a view',
    () => Object.create(Uint8Array.prototype, { buffer: { value: ordinary.buffer } }) as unknown,
    /must be an ArrayBuffer/,
  ],
  [
    'a detached one that has byteLength',
    () => {
      const detached = new ArrayBuffer(64);
      structuredClone(detached, { transfer: [detached] });
      return dressed(detached, { byteLength: 64 });
    },
    /empty or detached/,
  ],
];

describeInProcess('disguised memory', (backend) => {
  it.each(refused)('is refused: %s', (_, make, message) => {
    const { protectionDomain } = makeVerbs(backend);
    expect(() => protectionDomain.registerMemory(make() as ArrayBuffer)).toThrow(
      expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(message) as string }),
    );
  });

  it('is refused with any prototype', () => {
    const { protectionDomain } = makeVerbs(backend);
    const { prototype } = ArrayBuffer;
    const before = Object.getOwnPropertyDescriptor(prototype, 'resizable')!;
    Object.defineProperty(prototype, 'resizable', { ...before, get: () => false });
    try {
      expect(() => protectionDomain.registerMemory(resizable())).toThrow(/resizable/);
    } finally {
      Object.defineProperty(prototype, 'resizable', before);
    }
  });

  it('is accepted unchanged if it stays in place', () => {
    const { protectionDomain } = makeVerbs(backend);
    const buffer = new ArrayBuffer(64);
    const view = dressed(new Uint8Array(buffer, 8, 16), ordinary);
    const region = protectionDomain.registerMemory(view);
    expect(region.length).toBe(16);
    expect(region.bytes.buffer).toBe(buffer);
    expect(region.bytes.byteOffset).toBe(8);
    expect(() => region.slice(0, 17)).toThrow(RangeError);
    const words = protectionDomain.registerMemory(new DataView(buffer, 4, 8));
    expect([words.length, words.bytes.byteOffset]).toEqual([8, 4]);
  });
});

describe('the rights of a mapping', () => {
  it('are a string, whose conversion cannot move memory', () => {
    const { context } = makeVerbs();
    const { board } = context.driver.device;
    const buffer = new ArrayBuffer(4096);
    const rights = { toString: () => (structuredClone(buffer, { transfer: [buffer] }), 'read') };
    expect(() => board.map(buffer, rights as unknown as 'read')).toThrow(/rights must be one of/);
    expect(buffer.byteLength).toBe(4096);
  });
});
