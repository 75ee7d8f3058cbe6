import { describe, expect, it } from 'vitest';

import { ConfigurationSpace } from '../helpers/pci_proxy/configuration_space.ts';
import {
  MessageSignaledInterrupts,
  pendingOffset,
} from '../helpers/pci_proxy/message_signaled_interrupts.ts';
import type { InterruptMessage } from '../helpers/pci_proxy/remapping_unit.ts';

const entryBytes = 16;

function makeVectors(): { vectors: MessageSignaledInterrupts; sent: InterruptMessage[] } {
  const sent: InterruptMessage[] = [];
  return { vectors: new MessageSignaledInterrupts(8, (message) => sent.push(message)), sent };
}

/** Gives a vector its message, and unmasks it. */
function arm(vectors: MessageSignaledInterrupts, vector: number, message: InterruptMessage): void {
  vectors.write(vector * entryBytes, message.address, 8);
  vectors.write(vector * entryBytes + 8, BigInt(message.data), 4);
  vectors.write(vector * entryBytes + 12, 0n, 4);
}

describe('MSI-X', () => {
  const message = { address: 0xfee0_0000n, data: 0x41 };

  it('sends the message of a vector', () => {
    const { vectors, sent } = makeVectors();
    vectors.open(true);
    arm(vectors, 3, message);
    expect(vectors.read(3 * entryBytes, 8)).toBe(message.address);
    expect(vectors.read(3 * entryBytes + 8, 8)).toBe(0x41n);
    expect(sent).toEqual([]);
    vectors.signal(3);
    vectors.signal(3);
    expect(sent).toEqual([message, message]);
  });

  it('keeps a masked interrupt pending, and sends it once when unmasked', () => {
    const { vectors, sent } = makeVectors();
    vectors.signal(7);
    vectors.open(true);
    vectors.signal(7);
    expect(vectors.read(pendingOffset, 8)).toBe(0x80n);
    expect(sent).toEqual([]);
    arm(vectors, 7, message);
    expect(sent).toEqual([message]);
    expect(vectors.read(pendingOffset, 8)).toBe(0n);
    vectors.open(false); // masked as a whole
    vectors.signal(7);
    expect(sent).toHaveLength(1);
    vectors.open(true);
    expect(sent).toHaveLength(2);
  });

  it('masks every vector after a reset, and has read-only pending bits', () => {
    const { vectors, sent } = makeVectors();
    vectors.open(true);
    arm(vectors, 0, message);
    vectors.clear();
    vectors.open(true);
    vectors.signal(0);
    expect(vectors.read(12, 4)).toBe(1n);
    vectors.write(pendingOffset, 0n, 8);
    expect(vectors.read(pendingOffset, 8)).toBe(1n);
    expect(sent).toEqual([]);
  });

  it('is a capability besides function-level reset if the function has vectors', () => {
    const bars = [{ bar: 0, bytes: 0x1000, prefetchable: false }];
    const space = new ConfigurationSpace(bars, { vectors: 8, bar: 1, pendingOffset });
    expect(space.read(0x34, 1)).toBe(0x40);
    expect(space.read(0x41, 1)).toBe(0x48);
    expect(space.read(0x48, 4)).toBe(0x0007_0011);
    expect(space.read(0x4c, 4)).toBe(1);
    expect(space.read(0x50, 4)).toBe(pendingOffset | 1);
    expect(space.vectorsOpen).toBe(false);
    space.write(0x4a, 0x8000, 2);
    expect(space.vectorsOpen).toBe(true);
    space.write(0x4a, 0xc000, 2);
    expect(space.vectorsOpen).toBe(false);
    expect(space.read(0x4a, 2)).toBe(0xc007);
    expect(new ConfigurationSpace(bars).read(0x40, 2)).toBe(0x13);
  });
});
