import { describe, expect, it } from 'vitest';

import { blockNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { Opcode } from '../../lib/index.ts';
import { makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { eventsOf, functionRegister, makeFunctions } from '../helpers/function_verbs.ts';

const offsetOf = (name: string): number => registerNamed(blockNamed('control'), name).offset;

/** Two functions, and a lane map in the control function's memory. */
function makeScene(): { control: Verbs; guest: Verbs; pair: [End, End]; table: BigUint64Array } {
  const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
  const { device } = control.context.driver;
  const memory = device.allocate(4096);
  device.controlPage!.write64(offsetOf('lane_map_address'), memory.address);
  return { control, guest, pair: makePair(guest), table: new BigUint64Array(memory.buffer) };
}

function invalidate({ context }: Verbs, entries: number): void {
  context.driver.device.controlPage!.write32(offsetOf('lane_map_invalidate'), entries);
}

/** Completes one WRITE by the guest. */
function write([from, to]: [End, End]): void {
  const remote = makeMemory(to, 8).region.remote();
  from.queuePair.postSend({
    opcode: Opcode.rdmaWrite,
    inlineData: new Uint8Array(8),
    remote,
    wrId: 1,
    signaled: true,
  });
  expect(settle(from)).toHaveLength(1);
}

const lanes = (verbs: Verbs): readonly bigint[] => functionRegister(verbs, 'transmit_virtual_lanes');

describe('the lane map in host memory', () => {
  it('is read again when a command needs a lane of an invalidated entry', () => {
    const { control, guest, pair, table } = makeScene();
    table[2] = 0xff00n;
    table[3] = 0xf_0000n;
    invalidate(control, 0b1100);
    expect(lanes(guest)).toEqual([0xf0n, 0xf0n]);
    write(pair);
    // Only the low level has had a command.
    expect(lanes(guest)).toEqual([0xff00n, 0xf0n]);
    table[2] = 0x1n;
    write(pair);
    expect(lanes(guest)).toEqual([0xff00n, 0xf0n]);
    invalidate(control, 0b0100);
    write(pair);
    expect(lanes(guest)).toEqual([0x1n, 0xf0n]);
  });

  it('leaves the entry unchanged, and raises an event of the control function, if it cannot be read', () => {
    const { control, guest, pair } = makeScene();
    const page = control.context.driver.device.controlPage!;
    page.write64(offsetOf('lane_map_address'), 0x10n);
    invalidate(control, 0b0100);
    write(pair);
    expect(lanes(guest)).toEqual([0xf0n, 0xf0n]);
    expect(eventsOf(control)).toMatchObject([{ name: 'dmaFault', detail: 0x20n }]);
    expect(eventsOf(guest)).toEqual([]);
  });

  it('must begin at a multiple of 8 B', () => {
    const { control } = makeScene();
    const page = control.context.driver.device.controlPage!;
    const before = page.read64(offsetOf('lane_map_address'));
    page.write64(offsetOf('lane_map_address'), 0x1004n);
    expect(page.read64(offsetOf('lane_map_address'))).toBe(before);
  });
});
