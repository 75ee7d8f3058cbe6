import { describe, expect, it } from 'vitest';

import * as spec from '../../lib/spec/index.ts';
import { RegionType, blockDescriptions, type RegisterDescription } from '../../lib/spec/index.ts';
import { Device } from '../helpers/device.ts';

const regionOf: Readonly<Record<string, RegionType>> = {
  identity: RegionType.identity,
  underlying_function: RegionType.underlyingFunction,
  control: RegionType.control,
};

const refusedOffset = spec.UNDERLYING_FUNCTION_READS_REFUSED_OFFSET;

/**
 * Registers whose value after reset is set by the board and not by the specification, by block, name and
 * index.
 */
const stated: Readonly<Record<string, (index: number) => bigint>> = {
  'identity.device': () => 1n,
  'identity.capabilities': () => 8n, // kick records
  'identity.board_name': (index) => {
    const name = Buffer.alloc(32);
    name.write('fpga-verbs emulated board');
    return BigInt(name.readUInt32LE(index * 4));
  },
  'identity.underlying_functions': () => 8n,
  'identity.virtual_collect_buffers': () => 256n,
  'identity.virtual_collect_buffer_stride': () => 4096n,
  'identity.physical_collect_buffers': () => 64n,
  'identity.dedicated_physical_collect_buffers': () => (2n << 16n) | 8n,
  'identity.transmit_virtual_lanes': () => 64n,
  'identity.queue_pairs': () => 256n,
  'identity.ports': () => 1n,
  'identity.clock_frequency': () => 1_000_000_000n,
  'identity.beat_bytes': () => 8n,
  'identity.queue_entries_maximum': () => 32768n,
  'identity.regions': () => 4n,
  'identity.region': (index) => [1n, 2n, 3n, 0x10204n][index] ?? 0n,
  'identity.region_entries': (index) => [1n, 1n, 8n, 256n][index] ?? 0n,
  'identity.region_offset': (index) => [0n, 0x10000n, 0x20000n, 0n][index] ?? 0n,
  'identity.region_size': (index) => [0x1000n, 0x10000n, 0x80000n, 0x100000n][index] ?? 0n,
  'identity.region_page_stride': (index) => [0x1000n, 0x10000n, 0x10000n, 0x1000n][index] ?? 0n,
  'underlying_function.status': () => 3n << 8n,
  'underlying_function.virtual_collect_buffer_bar': () => (32n << 16n) | 96n,
  'underlying_function.virtual_collect_buffer_sub_bar': () => 32n << 16n,
  'underlying_function.management_lock': () => 1n | (64n << 8n),
  'underlying_function.physical_collect_buffers_total': (index) => [0n, 0n, 4n][index]!,
  'underlying_function.physical_collect_buffers_available': (index) => [0n, 0n, 4n][index]!,
  'underlying_function.transmit_virtual_lanes': () => 0xf000n,
  'underlying_function.level_execution_credits': () => 8n | (8n << 16n) | (64n << 48n),
  'underlying_function.level_completion_credits': () => 16n | (16n << 16n) | (256n << 48n),
  'control.inspect_physical_collect_buffer': () => (0xffffn << 16n) | (3n << 5n), // no VCB, the group of all
  'control.inspect_virtual_collect_buffer': () => 0xffffn << 16n,
  'control.function_virtual_collect_buffer_bar': (index) => (32n << 16n) | BigInt(index * 32),
  'control.function_virtual_collect_buffer_sub_bar': () => 32n << 16n,
  'control.function_physical_collect_buffers': () => 4n << 16n,
  'control.function_transmit_virtual_lanes': (index) => 0xfn << BigInt(4 * Math.floor(index / 2)),
  'control.shared_transmit_virtual_lanes': () => 0xffff_ffff_0000_0000n,
  'control.physical_collect_buffers_shared': () => (32n << 16n) | 32n,
  'control.shared_execution_credits': () => 64n,
  'control.shared_completion_credits': () => 256n,
  'control.lane_state': () => (2n << 8n) | (4n << 13n),
};

/** Registers whose value a test cannot predict, or that a read changes. */
const variable = new Set(['identity.context_memory_needed', 'underlying_function.reads_refused']);

const isWide = (register: RegisterDescription): boolean => register.width === 64;

describe('registers', () => {
  // Only boards with blocks in RTL have the control port.
  for (const block of blockDescriptions.filter(({ name }) => name !== 'manager_port')) {
    const region = regionOf[block.name]!;
    const page = region === RegionType.control ? 0 : 3;

    it(`${block.name}: each register reads what it states, write-only ones 0, and a reserved offset 0, counted`, () => {
      const device = new Device();
      const refused = (): bigint => device.read64(RegionType.underlyingFunction, page, refusedOffset);
      const known = new Map<
        number,
        { name: string; register: RegisterDescription; index: number; high: boolean }
      >();
      for (const register of block.registers)
        for (let index = 0; index < register.count; ++index)
          for (let half = 0; half < (isWide(register) ? 2 : 1); ++half)
            known.set(register.offset + index * register.stride + half * 4, {
              name: `${block.name}.${register.name}`,
              register,
              index,
              high: half === 1,
            });
      for (let offset = 0; offset < block.bytes; offset += 4) {
        const before = refused();
        const value = device.read32(region, page, offset);
        const counted = refused() - before;
        const found = known.get(offset);
        if (found === undefined) {
          expect([offset, value, counted]).toEqual([offset, 0, 1n]);
          continue;
        }
        expect([found.name, counted]).toEqual([found.name, 0n]);
        if (variable.has(found.name)) continue;
        const whole =
          found.register.access === 'wo' ? 0n : (stated[found.name]?.(found.index) ?? found.register.reset);
        const expected = Number(found.high ? whole >> 32n : whole & 0xffff_ffffn);
        expect([found.name, found.index, value]).toEqual([found.name, found.index, expected]);
      }
      expect(device.port.verify()).toBeNull();
    });

    it(`${block.name}: a read-only register and a reserved offset cannot be written, and both are counted`, () => {
      const device = new Device();
      const refused = (): bigint => device.read64(RegionType.underlyingFunction, page, refusedOffset);
      for (const register of block.registers.filter(({ access }) => access.startsWith('ro'))) {
        // The access itself counts.
        if (register.name === 'reads_refused' || register.name === 'transactions') continue;
        const wide = isWide(register);
        const readBack = (): bigint =>
          wide
            ? device.read64(region, page, register.offset)
            : BigInt(device.read32(region, page, register.offset));
        const before = readBack();
        const count = refused();
        if (wide) device.write64(region, page, register.offset, ~before & 0xffff_ffff_ffff_ffffn);
        else device.write32(region, page, register.offset, Number(~before & 0xffff_ffffn));
        expect([register.name, refused() - count, readBack()]).toEqual([register.name, 1n, before]);
      }
      const count = refused();
      device.write32(region, page, block.bytes - 4, 1);
      expect(refused() - count).toBe(1n);
    });
  }

  it('latch the high half of the clock when the low half is read', () => {
    const device = new Device();
    const clock = spec.UNDERLYING_FUNCTION_CLOCK_OFFSET;
    const page = RegionType.underlyingFunction;
    device.port.setTime(0x1_ffff_ffffn);
    expect(device.read32(page, 1, clock)).toBe(0xffff_ffff);
    device.port.setTime(0x2_0000_0000n);
    expect(device.read32(page, 1, clock + 4)).toBe(1);
    expect(device.read64(page, 1, clock)).toBe(0x2_0000_0000n);
  });

  const writable: readonly [name: string, region: RegionType, offset: number][] = [
    ['half_written_limit', RegionType.control, spec.CONTROL_HALF_WRITTEN_LIMIT_OFFSET],
    ['context_memory_address', RegionType.control, spec.CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET],
    ['context_memory_bytes', RegionType.control, spec.CONTROL_CONTEXT_MEMORY_BYTES_OFFSET],
    [
      'function_transmit_virtual_lanes',
      RegionType.control,
      spec.CONTROL_FUNCTION_TRANSMIT_VIRTUAL_LANES_OFFSET,
    ],
    ['shared_transmit_virtual_lanes', RegionType.control, spec.CONTROL_SHARED_TRANSMIT_VIRTUAL_LANES_OFFSET],
    [
      'kick_record_address',
      RegionType.underlyingFunction,
      spec.UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET,
    ],
    [
      'kick_record_head_address',
      RegionType.underlyingFunction,
      spec.UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET,
    ],
    [
      'queuing_structure_address',
      RegionType.underlyingFunction,
      spec.UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_OFFSET,
    ],
    [
      'management_send_queue_address',
      RegionType.underlyingFunction,
      spec.UNDERLYING_FUNCTION_MANAGEMENT_SEND_QUEUE_ADDRESS_OFFSET,
    ],
    [
      'management_completion_queue_address',
      RegionType.underlyingFunction,
      spec.UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET,
    ],
  ];
  for (const [name, region, offset] of writable)
    it(`${name}: takes effect with the high half, or as 8 B`, () => {
      const device = new Device();
      const page = 0;
      const before = device.read64(region, page, offset);
      device.write32(region, page, offset, 0x3000);
      expect(device.read64(region, page, offset)).toBe(before);
      device.write32(region, page, offset + 4, 0x12);
      expect(device.read64(region, page, offset)).toBe(0x12_0000_3000n);
      device.write64(region, page, offset, 0x34_0000_5000n);
      expect(device.read64(region, page, offset)).toBe(0x34_0000_5000n);
      // A register of this name of another function is a different register.
      if (region === RegionType.underlyingFunction) expect(device.read64(region, 1, offset)).toBe(0n);
    });

  it('refuse a part of a DWORD, and write the DWORDs around it', () => {
    const device = new Device();
    const page = RegionType.control;
    const refused = (): bigint => device.read64(RegionType.underlyingFunction, 0, refusedOffset);
    const bytes = new Uint8Array(16).fill(0x10);
    device.write(page, 0, spec.CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET, bytes, 0xf7ffn);
    expect(refused()).toBe(1n);
    expect(device.read64(page, 0, spec.CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET)).toBe(0x1010_1010_1010_1010n);
    expect(device.read64(page, 0, spec.CONTROL_CONTEXT_MEMORY_BYTES_OFFSET)).toBe(0x1010_1010_0000_0000n);
  });

  it('show a VCB and its PCB, and cancel, close and open it', () => {
    const device = new Device();
    device.enable();
    const { control } = RegionType;
    const first = spec.encode('command_header', { opcode: spec.Opcode.send, version: 1, length: 64 });
    device.write(RegionType.virtualCollectBuffer, 5, 8, first.subarray(8, 16));
    device.write32(control, 0, spec.CONTROL_INSPECT_SELECT_OFFSET, 5 << 16);
    const state = (): number => device.read32(control, 0, spec.CONTROL_INSPECT_VIRTUAL_COLLECT_BUFFER_OFFSET);
    expect(state() & 7).toBe(spec.VirtualCollectBufferState.collecting);
    const buffer = state() >>> 16;
    device.write32(control, 0, spec.CONTROL_INSPECT_SELECT_OFFSET, (5 << 16) | buffer);
    const pcb = device.read32(control, 0, spec.CONTROL_INSPECT_PHYSICAL_COLLECT_BUFFER_OFFSET);
    expect([pcb & 7, pcb >>> 16]).toEqual([spec.PhysicalCollectBufferState.collecting, 5]);
    expect(device.read64(control, 0, spec.CONTROL_INSPECT_SCOREBOARD_OFFSET)).toBe(2n);
    expect(device.read64(control, 0, spec.CONTROL_INSPECT_RECEIVED_OFFSET)).toBe(0xcn);
    expect(
      device.read32(
        RegionType.underlyingFunction,
        0,
        spec.UNDERLYING_FUNCTION_VIRTUAL_COLLECT_BUFFER_IN_USE_OFFSET,
      ),
    ).toBe(1 << 5);
    device.write32(control, 0, spec.CONTROL_CANCEL_VIRTUAL_COLLECT_BUFFER_OFFSET, 5);
    expect(state() & 7).toBe(spec.VirtualCollectBufferState.free);
    device.write32(control, 0, spec.CONTROL_CLOSE_VIRTUAL_COLLECT_BUFFER_OFFSET, 5);
    expect(state() & 7).toBe(spec.VirtualCollectBufferState.closed);
    device.write32(control, 0, spec.CONTROL_OPEN_VIRTUAL_COLLECT_BUFFER_OFFSET, 5);
    expect(state() & 7).toBe(spec.VirtualCollectBufferState.free);
    expect(device.port.verify()).toBeNull();
  });

  it('do not enable a device whose context memory is too small', () => {
    const device = new Device();
    device.write64(RegionType.control, 0, spec.CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET, device.address(4096));
    device.write64(RegionType.control, 0, spec.CONTROL_CONTEXT_MEMORY_BYTES_OFFSET, 4096n);
    device.write32(RegionType.control, 0, spec.CONTROL_CONTROL_OFFSET, 1);
    expect(device.read32(RegionType.control, 0, spec.CONTROL_CONTROL_OFFSET)).toBe(0);
    device.enable();
    expect(device.read32(RegionType.control, 0, spec.CONTROL_CONTROL_OFFSET)).toBe(1);
    expect(device.read32(RegionType.underlyingFunction, 4, spec.UNDERLYING_FUNCTION_STATUS_OFFSET)).toBe(
      0x401,
    );
  });
});
