import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import { addressInLine, storeCommand } from './pci_port.ts';

const stores = loadAddon().commandStores();

describe('a command store', () => {
  it('of 8 B exists on every processor and is listed last', () => {
    expect(stores.at(-1)).toBe('8 B');
    expect(storeCommand('no such way', new Uint8Array(64), new Uint8Array(8))).toBe(false);
  });

  it.each(stores)('by %s copies the command and nothing beyond it', (store) => {
    const memory = new ArrayBuffer(1024);
    const aligned = (64 - addressInLine(memory)) % 64;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 4 }), (segments, line) => {
        const page = new Uint8Array(memory).fill(0xee);
        const begin = aligned + line * 64;
        const source = Uint8Array.from({ length: segments * 8 }, (_, index) => (index * 7 + line) & 0xff);
        expect(storeCommand(store, page.subarray(begin), source)).toBe(true);
        expect(page.subarray(begin, begin + source.length)).toEqual(source);
        expect(page.subarray(0, begin).every((byte) => byte === 0xee)).toBe(true);
        expect(page.subarray(begin + source.length).every((byte) => byte === 0xee)).toBe(true);
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});
