import { describe, expect, it } from 'vitest';

import {
  ManagementOpcode,
  ManagementStatus,
  QueuePairState,
  ServiceType,
  UNDERLYING_FUNCTION_EVENTS_DROPPED_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_LOCK_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_QUEUE_SIZE_OFFSET,
  UNDERLYING_FUNCTION_STATUS_OFFSET,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import { ManagedDevice, ManagedFunction, type Answer } from './managed_function.ts';
import { bitOf, createInput } from './management_inputs.ts';

const { inspectQueuePairs, inspectRegions, inspectRegisters } = ManagementOpcode;
const { success, notPermitted, badParameter } = ManagementStatus;
const all = 0xffff_ffff;
const atOnce = 32;

/** The control function, and two others with queue pairs. */
function makeFunctions(queuePairs: readonly [number, number]): ManagedFunction[] {
  const device = new ManagedDevice({ pageTableEntries: 4096 });
  const hosts = [0, 1, 2].map((number) => new ManagedFunction(device, number));
  queuePairs.forEach((count, index) => {
    const host = hosts[index + 1]!;
    const domain = host.createProtectionDomain();
    for (let made = 0; made < count; made++)
      host.succeed(ManagementOpcode.createQueuePair, {}, createInput(domain, ServiceType.reliableConnection));
  });
  return hosts;
}

function list(host: ManagedFunction, opcode: ManagementOpcode, functions: number, from = 0): Answer {
  return host.execute(opcode, {}, [encode('inspect_input', { functions, from })]);
}

/** The queue pairs that the last command listed. */
function listed(host: ManagedFunction): Record<string, unknown>[] {
  const { bytes } = host.device;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(host.output + 8, true);
  return Array.from({ length: length / 96 }, (_, index) => {
    const at = host.output + 16 + index * 96;
    return decode('inspected_queue_pair', bytes.slice(at, at + 96));
  });
}

describe('inspection commands', () => {
  it('list the queue pairs of all functions for the control function, piece by piece', () => {
    const [control] = makeFunctions([30, 10]) as [ManagedFunction];
    const found: Record<string, unknown>[] = [];
    let from = 0;
    do {
      const answer = list(control, inspectQueuePairs, all, from);
      expect(answer.status).toBe(success);
      const piece = listed(control);
      expect(piece.length).toBeLessThanOrEqual(atOnce);
      found.push(...piece);
      from = Number(answer.output);
    } while (from !== 0);
    const functionsOf = found.map((each) => each['underlying_function']);
    expect(functionsOf.filter((each) => each === 1)).toHaveLength(30);
    expect(functionsOf.filter((each) => each === 2)).toHaveLength(10);
    expect(new Set(found.map((each) => each['queue_pair_number'])).size).toBe(40);
    expect(found[0]).toMatchObject({
      service_type: ServiceType.reliableConnection,
      state: QueuePairState.reset,
      time_wait_left: 0,
    });
  });

  it('list those of a chosen function', () => {
    const [control] = makeFunctions([2, 3]) as [ManagedFunction];
    expect(list(control, inspectQueuePairs, 1 << 2).status).toBe(success);
    expect(listed(control).map((each) => each['underlying_function'])).toEqual([2, 2, 2]);
  });

  it('show a function its own objects, and refuse it those of others', () => {
    const [, one] = makeFunctions([2, 3]) as [ManagedFunction, ManagedFunction];
    expect(list(one, inspectQueuePairs, 1 << 1).status).toBe(success);
    expect(listed(one)).toHaveLength(2);
    for (const functions of [all, 1 << 2, 1 << 0, (1 << 1) | (1 << 2)]) {
      expect(list(one, inspectQueuePairs, functions).status, `${functions}`).toBe(notPermitted);
      expect(list(one, inspectRegions, functions).status, `${functions}`).toBe(notPermitted);
    }
    expect(list(one, inspectQueuePairs, 0)).toMatchObject({
      status: badParameter,
      inMailbox: 1,
      output: bitOf('inspect_input', 'functions'),
    });
  });

  it('read registers of a page together, without side effects', () => {
    const [control, one] = makeFunctions([0, 0]) as [ManagedFunction, ManagedFunction];
    const read = (host: ManagedFunction, of: number, offsets: readonly number[]): number[] | number => {
      const { status } = host.execute(inspectRegisters, {}, [
        encode('inspect_registers_input', { underlying_function: of, count: offsets.length }),
        new Uint8Array(Uint32Array.from(offsets).buffer),
      ]);
      if (status !== success) return status;
      const view = new DataView(host.device.bytes.buffer, host.device.bytes.byteOffset + host.output + 16);
      return offsets.map((_, index) => view.getUint32(4 * index, true));
    };
    const offsets = [
      UNDERLYING_FUNCTION_STATUS_OFFSET,
      UNDERLYING_FUNCTION_MANAGEMENT_QUEUE_SIZE_OFFSET,
      UNDERLYING_FUNCTION_EVENTS_DROPPED_OFFSET + 4,
      UNDERLYING_FUNCTION_MANAGEMENT_LOCK_OFFSET,
      0x7ffc, // no register
    ];
    const [status, size, ...rest] = read(control, 1, offsets) as number[];
    expect((status! >>> 8) & 0xff || (status! >>> 2) & 0xff).toBe(1);
    expect(size).toBe(one.log2);
    expect(rest).toEqual([0, all, all]);
    expect(read(one, 1, offsets)).toEqual([status, size, ...rest]);
    expect(read(one, 0, offsets)).toBe(notPermitted);
    expect(read(one, 2, offsets)).toBe(notPermitted);
    expect(read(control, 8, offsets)).toBe(badParameter);
    expect(read(control, 1, [])).toBe(badParameter);
  });
});
