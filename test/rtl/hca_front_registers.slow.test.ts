import { describe, it } from 'vitest';

import * as spec from '../../lib/spec/index.ts';
import { PhysicalCollectBufferState, RegionType, blockDescriptions } from '../../lib/spec/index.ts';
import { makeCommand } from '../helpers/command.ts';
import { Random } from '../helpers/random.mjs';
import { requireTool } from '../helpers/tools.ts';
import { Accesses, offsetOf } from './hca_front_accesses.ts';
import { buildBench, type Bench, type Shape } from './verilator.ts';

const block = 'hca_front';
const patient = { timeout: 600_000 };
const pool = 4;
const shape: Shape = {
  BEAT_BYTES: 16,
  UNDERLYING_FUNCTIONS: 2,
  VIRTUAL_COLLECT_BUFFERS: 8,
  PHYSICAL_COLLECT_BUFFERS: pool,
  DEDICATED_PHYSICAL_COLLECT_BUFFERS: 3,
  MANAGEMENT_PHYSICAL_COLLECT_BUFFERS: 2,
  TRANSMIT_VIRTUAL_LANES: 4,
  QUEUE_PAIRS: 16,
  FINISHES: 1,
};
const functions = 2;
const buffers = 8;
const management = 2;
const identity = RegionType.identity;
const control = RegionType.control;
const functionPage = RegionType.underlyingFunction;
const ofFunction = (name: string, index = 0): number => offsetOf('underlying_function', name, index);
const ofControl = (name: string, index = 0): number => offsetOf('control', name, index);

/** Registers of the identity page in which hca_front differs from the model, with their values. */
const ownIdentity: Readonly<Record<string, number>> = {
  device: 2 | (1 << 16),
  capabilities: 0b111000, // Kick records, collect_buffer and virtual_kick in RTL.
  board_name: 0,
  clock_frequency: 250_000_000,
  beat_bytes: 16,
  context_memory_needed: 0,
};

/** The function registers of hca_front, except the clock and registers whose reads have side effects. */
const functionRegisters = [
  'status',
  'virtual_collect_buffer_bar',
  'virtual_collect_buffer_sub_bar',
  'kick_record_control',
  'kick_record_address',
  'kick_record_head_address',
  'queuing_structure_address',
  'queuing_structure_size',
  'kicks',
  'send_queue_mode_kicks',
  'commands_refused',
  'writes_dropped',
  'commands_cancelled',
  'kick_records_written',
  'kick_records_dropped',
  'dma_faults',
  'send_queue_mode_entered',
  'transmit_virtual_lanes',
];
const controlRegisters = [
  'control',
  'half_written_limit',
  'inspect_select',
  'inspect_virtual_collect_buffer',
  'dedicated_physical_collect_buffer',
  'function_virtual_collect_buffer_bar',
  'function_virtual_collect_buffer_sub_bar',
  'function_physical_collect_buffers',
  'shared_execution_credits',
  'shared_completion_credits',
  'lane_state',
  'function_transmit_virtual_lanes',
  'shared_transmit_virtual_lanes',
  'lane_map_address',
  'lane_map_invalidate',
  'writes_unclaimed',
];

/** The number of entries of a register on this board: one per function, or one per function and level. */
const entries = (name: string): number =>
  name === 'function_transmit_virtual_lanes'
    ? 2 * functions
    : name.startsWith('function_')
      ? functions
      : Infinity;

/** The offsets of all DWORDs of the named registers. */
function offsetsOf(blockName: string, names: readonly string[]): number[] {
  const { registers } = blockDescriptions.find(({ name }) => name === blockName)!;
  return registers
    .filter(({ name }) => names.includes(name))
    .flatMap(({ offset, count, stride, width, name }) =>
      Array.from({ length: Math.min(count, entries(name)) }, (_, index) =>
        width === 64 ? [offset + index * stride, offset + index * stride + 4] : [offset + index * stride],
      ).flat(),
    );
}

/** Reads and compares all registers. */
function readAll(accesses: Accesses): void {
  for (const offset of offsetsOf('control', controlRegisters)) accesses.read(control, 0, offset);
  for (let number = 0; number < functions; ++number)
    for (const offset of offsetsOf('underlying_function', functionRegisters))
      accesses.read(functionPage, number, offset);
}

/** Random accesses. */
class Chance {
  private readonly random: Random;
  private readonly accesses: Accesses;
  /** For each function: the management command that it writes, the DWORDs left, the command's number, and the lock. */
  private readonly pages = Array.from({ length: functions }, () => ({
    bytes: new Uint8Array(0) as Uint8Array,
    left: [] as number[],
    isRefused: false,
    length: 0,
    number: 0,
    lock: undefined as number | undefined,
  }));
  private came: { buffer: number; function: number; number: number; bytes: Uint8Array }[] = [];
  private isHeld = false;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.accesses = new Accesses(shape);
  }

  go(bench: Bench, name: string, steps: number): void {
    this.enable();
    for (let step = 0; step < steps; ++step) {
      this.act();
      if (step % 20 === 19) readAll(this.accesses);
    }
    this.release();
    readAll(this.accesses);
    this.accesses.compare(bench, name);
  }

  private act(): void {
    const what = this.random.below(100);
    if (what < 15) this.lock();
    else if (what < 50) this.writeManagementPage();
    else if (what < 53) this.unlock();
    else if (what < 56) this.breakLock();
    else if (what < 76) this.writeCollectBuffer();
    else if (what < 82) this.controlBuffer();
    else if (what < 87) this.inspect();
    else if (what < 90) this.divide();
    else if (what < 92) this.mapLanes();
    else if (what < 93) this.writeFunction();
    else if (what < 94) this.readHalves();
    else if (what < 95) this.writeNothing();
    else if (what < 97) this.hold();
    else if (what < 99) this.resetFunction();
    else if (this.random.once(3)) this.resetDevice();
  }

  private enable(): void {
    this.accesses.write(control, 0, ofControl('control'), 1);
  }

  // A held command keeps its PCB.
  private hold(): void {
    this.isHeld = !this.isHeld;
    this.accesses.hold(this.isHeld);
    if (!this.isHeld) this.release();
  }

  private release(): void {
    if (this.isHeld) this.accesses.hold(false);
    this.isHeld = false;
    this.accesses.commands(this.came);
    this.came = [];
  }

  private lock(): void {
    const number = this.random.below(functions);
    const page = this.pages[number]!;
    const value = this.accesses.read(functionPage, number, ofFunction('management_lock'));
    const granted = (value & 1) !== 0 ? value >>> 8 : undefined;
    if (granted !== undefined && page.lock === undefined) this.begin(number);
    page.lock = granted;
  }

  private begin(number: number): void {
    const page = this.pages[number]!;
    // The device rejects opcode 0xfe, so the command has no effect.
    const queuePairNumber = this.random.once(10) ? 1 : 0;
    const version = this.random.once(10) ? 2 : 1;
    page.isRefused = queuePairNumber !== 0 || version !== spec.COMMAND_VERSION;
    page.length = this.random.below(257);
    page.bytes = makeCommand({
      length: page.length,
      queuePairNumber,
      sequenceNumber: page.number,
      version,
    });
    page.bytes[0] = 0xfe;
    for (let at = 8; at < page.bytes.length; ++at) page.bytes[at] = this.random.below(256);
    page.left = Array.from({ length: page.bytes.length / 4 }, (_, dword) => dword);
    for (let left = page.left.length; left > 1; --left) {
      const other = this.random.below(left);
      [page.left[left - 1], page.left[other]] = [page.left[other]!, page.left[left - 1]!];
    }
  }

  private writeManagementPage(): void {
    const number = this.random.below(functions);
    const page = this.pages[number]!;
    const at = (dword: number): number => ofFunction('management_page', dword);
    if (page.lock === undefined || this.random.once(400)) {
      const strobes = page.lock === undefined ? this.random.below(16) : 1 + this.random.below(14);
      this.accesses.write(functionPage, number, at(this.random.below(80)), 0x12345678, strobes);
      page.lock = undefined;
      return;
    }
    if (this.random.once(300)) {
      this.accesses.write(functionPage, number, at(79), 0, 0);
      return;
    }
    const view = new DataView(page.bytes.buffer);
    const times = 1 + this.random.below(40);
    for (let time = 0; time < times && page.lock !== undefined; ++time) {
      const dword = page.left.pop()!;
      this.accesses.write(functionPage, number, at(dword), view.getUint32(dword * 4, true));
      const hasFirst = !page.left.includes(0) && !page.left.includes(1);
      const refused = hasFirst && page.isRefused;
      if (!refused && page.left.length !== 0) continue;
      if (!refused) {
        const bytes = page.bytes.slice(0, spec.COMMAND_HEADER_BYTES + page.length);
        this.came.push({ buffer: page.lock, function: number, number: page.number, bytes });
        ++page.number;
        this.accesses.wait(64); // The command leaves the stream.
      }
      page.lock = undefined;
    }
  }

  private unlock(): void {
    const number = this.random.below(functions);
    const unlocks = !this.random.once(4);
    this.accesses.write(functionPage, number, ofFunction('management_unlock'), Number(unlocks));
    if (unlocks) this.pages[number]!.lock = undefined;
  }

  private breakLock(): void {
    const buffer = this.random.once(3) ? this.random.below(12) : pool + this.random.below(management);
    this.accesses.write(control, 0, ofControl('break_management_lock'), buffer);
    for (const page of this.pages) if (page.lock === buffer) page.lock = undefined;
  }

  private writeCollectBuffer(): void {
    const buffer = this.random.below(buffers);
    const length = this.random.pick([4, 8, 16]);
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ++at) bytes[at] = this.random.below(256);
    const place = this.random.below(20);
    const offset = place < 14 ? 16 + this.random.below(304) : place < 18 ? 0xf80 + this.random.below(24) : 0;
    if (offset === 0) bytes.set(makeCommand({ length: 0, queuePairNumber: 5 }).subarray(0, length));
    this.accesses.writePage(buffer, Math.floor(offset / length) * length, bytes);
  }

  private controlBuffer(): void {
    const name = this.random.pick(['cancel', 'close', 'open', 'open']);
    this.accesses.write(
      control,
      0,
      ofControl(`${name}_virtual_collect_buffer`),
      this.random.below(buffers + 1),
    );
  }

  // Inspects a PCB: for one in the pool hca_front shows state and VCB, and its scoreboard while it collects.
  private inspect(): void {
    const physical = this.random.below(pool + 4);
    const select = physical | (this.random.below(buffers + 1) << 16);
    this.accesses.write(control, 0, ofControl('inspect_select'), select);
    const offset = ofControl('inspect_physical_collect_buffer');
    const value = this.accesses.modelRead(control, 0, offset);
    const isDedicated = ((value >>> 4) & 1) !== 0;
    this.accesses.readOwn(control, 0, offset, value & (isDedicated ? ~0x60 : ~0xff60));
    if ((value & 7) !== PhysicalCollectBufferState.collecting || isDedicated) return;
    for (const name of ['inspect_scoreboard', 'inspect_scoreboard_mask'])
      for (const half of [0, 4]) this.accesses.read(control, 0, ofControl(name) + half);
  }

  private divide(): void {
    const number = this.random.below(functions);
    const what = this.random.below(3);
    if (what === 0) {
      const [low, high, shared] = [0, 0, 0].map(() => this.random.below(4));
      const value = low! | (high! << 8) | (shared! << 16);
      this.accesses.write(control, 0, ofControl('function_physical_collect_buffers', number), value);
    } else if (what === 1) {
      const value = this.random.below(6) | (this.random.below(6) << 16);
      this.accesses.write(control, 0, ofControl('function_virtual_collect_buffer_sub_bar', number), value);
    } else {
      // One VCB may stay open; then a BAR only takes effect if that VCB keeps its owner.
      const left = this.random.once(2) ? this.random.below(buffers) : buffers;
      for (let buffer = 0; buffer < buffers; ++buffer)
        if (buffer !== left)
          this.accesses.write(control, 0, ofControl('close_virtual_collect_buffer'), buffer);
      for (let time = 0; time < 3; ++time) {
        const value = this.random.below(buffers + 1) | (this.random.below(6) << 16);
        this.accesses.write(control, 0, ofControl('function_virtual_collect_buffer_bar', number), value);
      }
      for (let buffer = 0; buffer < buffers; ++buffer)
        this.accesses.write(control, 0, ofControl('open_virtual_collect_buffer'), buffer);
    }
  }

  // Writes entries of the mapping table, also of nonexistent functions, shared lanes, and addresses of the table, also misaligned ones; half of
  // a register has no effect alone. No command selects a lane here, so hca_front does not read the table.
  private mapLanes(): void {
    const lanes = (): number =>
      this.random.pick([0, 0, this.random.below(16), 0x80000000 + this.random.below(16)]);
    for (let time = 0; time < 4; ++time) {
      const offset = this.random.pick([
        ofControl('lane_map_address'),
        ofControl('shared_transmit_virtual_lanes'),
        ofControl('function_transmit_virtual_lanes', this.random.below(2 * functions + 1)),
      ]);
      if (!this.random.once(4)) this.accesses.write(control, 0, offset, lanes());
      if (this.random.once(8)) this.accesses.write(control, 0, ofControl('half_written_limit'), lanes());
      if (!this.random.once(4)) this.accesses.write(control, 0, offset + 4, lanes());
    }
    const invalidate = ofControl('lane_map_invalidate');
    this.accesses.write(control, 0, invalidate + this.random.pick([0, 0, 4]), this.random.below(0x10000));
  }

  private writeFunction(): void {
    const number = this.random.below(functions);
    const write = (name: string, value: number, index = 0, half = 0): void =>
      this.accesses.write(functionPage, number, ofFunction(name, index) + half, value);
    const high = this.random.below(0x10000);
    switch (this.random.below(5)) {
      case 0:
        write('kick_record_address', this.random.below(0x10000) * 4096);
        write('kick_record_address', high, 0, 4);
        break;
      case 1:
        write('kick_record_head_address', this.random.below(0x10000) * 8);
        write('kick_record_head_address', high, 0, 4);
        break;
      case 2: {
        const level = this.random.below(2);
        write('queuing_structure_address', this.random.below(0x10000) * 8, level);
        write('queuing_structure_address', high, level, 4);
        break;
      }
      case 3:
        write('queuing_structure_size', this.random.below(10));
        break;
      default: {
        // The low half waits for the high one, and is lost if another register is written in between.
        const offset = ofControl('half_written_limit');
        if (!this.random.once(3)) this.accesses.write(control, 0, offset, 0xfff00000 + high);
        if (this.random.once(3)) this.accesses.read(control, 0, offset);
        this.accesses.write(control, 0, offset + 4, 1 + high);
      }
    }
  }

  // The high half belongs to the read of the low one, unless another register of the page was read or this one was read completely.
  private readHalves(): void {
    const limit = ofControl('half_written_limit');
    for (let time = 0; time < 12; ++time)
      switch (this.random.below(6)) {
        case 0:
          this.accesses.write(control, 0, limit, 0xfff00000 + this.random.below(0x10000));
          break;
        case 1:
          this.accesses.write(control, 0, limit + 4, 1 + this.random.below(0x10000));
          break;
        case 2:
          this.accesses.read(control, 0, this.random.pick([ofControl('writes_unclaimed'), 0]));
          break;
        default:
          this.accesses.read(control, 0, limit + this.random.pick([0, 4]));
      }
  }

  // Writes without effect: to a read-only register, to a nonexistent one, of part of a DWORD.
  private writeNothing(): void {
    const number = this.random.below(functions);
    this.accesses.write(
      functionPage,
      number,
      ofFunction(this.random.pick(['status', 'virtual_collect_buffer_bar'])),
      1,
    );
    this.accesses.write(control, 0, spec.CONTROL_BYTES - 4, 1);
    this.accesses.write(control, 0, ofControl('control'), 0, 1 + this.random.below(14));
    // A disabled device cancels half-written commands, counts writes to VCBs, and drops writes to management pages.
    this.accesses.write(control, 0, ofControl('control'), 0);
    this.writeCollectBuffer();
    this.lock();
    for (let time = 0; time < 3; ++time) {
      const offset = ofFunction('management_page', this.random.below(80));
      const strobes = 1 + this.random.below(15);
      this.accesses.write(functionPage, this.random.below(functions), offset, 0x12345678, strobes);
    }
    readAll(this.accesses);
    this.enable();
  }

  private resetFunction(): void {
    this.release();
    const number = this.random.below(functions);
    if (this.random.once(3)) {
      this.accesses.write(functionPage, number, ofFunction('reset'), 0);
      return;
    }
    this.accesses.resetFunction(number);
    this.pages[number]!.lock = undefined;
    this.pages[number]!.number = 0;
    readAll(this.accesses);
  }

  private resetDevice(): void {
    this.release();
    this.accesses.resetDevice();
    for (const page of this.pages) [page.lock, page.number] = [undefined, 0];
    readAll(this.accesses);
    this.enable();
  }
}

describe('the registers of hca_front', () => {
  const build = (verilator: string): Bench =>
    buildBench(verilator, block, shape, undefined, 'hca_front_accesses');

  it("match the model's identity page, except for the design's own values", patient, (context) => {
    const bench = build(requireTool('verilator', context));
    const accesses = new Accesses(shape);
    for (const { name, offset, count, stride, width } of blockDescriptions.find(
      (description) => description.name === 'identity',
    )!.registers)
      for (let index = 0; index < count; ++index) {
        accesses.read(identity, 0, offset + index * stride, ownIdentity[name]);
        if (width === 64)
          accesses.read(
            identity,
            0,
            offset + index * stride + 4,
            ownIdentity[name] === undefined ? undefined : 0,
          );
      }
    readAll(accesses);
    accesses.compare(bench, 'identity');
  });

  it('read zero if hca_front lacks them or the offset has no register', patient, (context) => {
    const bench = build(requireTool('verilator', context));
    const accesses = new Accesses(shape);
    const own = {
      underlying_function: [...functionRegisters, 'clock', 'management_lock'],
      control: [
        ...controlRegisters,
        'inspect_physical_collect_buffer',
        'inspect_scoreboard',
        'inspect_scoreboard_mask',
      ],
    };
    for (const [name, registers] of Object.entries(own)) {
      const known = new Set(offsetsOf(name, registers));
      const region = name === 'control' ? control : functionPage;
      for (let offset = 0; offset < 0x900; offset += 4)
        if (!known.has(offset)) accesses.readOwn(region, 0, offset, 0);
    }
    for (const offset of [0x8000, 0x813c, 0xfffc]) accesses.readOwn(functionPage, 1, offset, 0);
    accesses.compare(bench, 'nothing');
  });

  it('match the device model: locks, management pages, VCBs, resets, counters', patient, (context) => {
    const bench = build(requireTool('verilator', context));
    for (const seed of [1, 2, 3]) new Chance(seed).go(bench, `chance_${seed}`, 2000);
  });

  // A write of part of a DWORD releases the lock of a management page. The test reads the dedicated PCB in the clock after the answer.
  it('reflect a write to a management page at once, also after a write to a VCB', patient, (context) => {
    const bench = build(requireTool('verilator', context));
    const accesses = new Accesses(shape);
    const random = new Random(1);
    accesses.write(control, 0, ofControl('control'), 1);
    for (let time = 0; time < 40; ++time) {
      const number = random.below(functions);
      const lock = accesses.read(functionPage, number, ofFunction('management_lock')) >>> 8;
      const offset = ofFunction('management_page', random.below(80));
      const strobes = 1 + random.below(14);
      // With two doorbell slots, the beat takes two clocks.
      if (random.once(2)) accesses.write(functionPage, number, offset, 1, strobes);
      else
        accesses.writePageAndRegister(
          random.below(buffers),
          spec.DOORBELL_SLOTS_OFFSET,
          new Uint8Array(16),
          functionPage,
          number,
          offset,
          1,
          strobes,
        );
      accesses.read(control, 0, ofControl('dedicated_physical_collect_buffer', lock - pool));
    }
    accesses.compare(bench, 'cost');
  });

  // The block collects a burst that began before the register write, and cancels it with the rest.
  it(
    'leave no half-written command if a burst is in flight when the device is disabled',
    patient,
    (context) => {
      const bench = build(requireTool('verilator', context));
      const accesses = new Accesses(shape);
      const random = new Random(2);
      for (let time = 0; time < 40; ++time) {
        accesses.write(control, 0, ofControl('control'), 1);
        const buffer = random.below(buffers);
        const header = makeCommand({ length: 16, queuePairNumber: 5 }).subarray(0, 8);
        accesses.writePageAndRegister(buffer, 0, header, control, 0, ofControl('control'), 0, 15);
        readAll(accesses);
        accesses.write(control, 0, ofControl('inspect_select'), buffer << 16);
        accesses.read(control, 0, ofControl('inspect_virtual_collect_buffer'));
      }
      accesses.compare(bench, 'disable');
    },
  );

  it('report a function reset until its DMA has ended', patient, (context) => {
    const bench = build(requireTool('verilator', context));
    const accesses = new Accesses(shape);
    const status = ofFunction('status');
    accesses.write(control, 0, ofControl('control'), 1);
    accesses.drained(0b01);
    accesses.resetFunction(1);
    accesses.readOwn(functionPage, 1, status, 0b11 | (1 << 8));
    accesses.read(functionPage, 0, status);
    accesses.resetFunction(0); // The reset of function 1 does not delay it.
    accesses.read(functionPage, 0, status);
    accesses.drained(0b11);
    accesses.read(functionPage, 1, status);
    accesses.compare(bench, 'drained');
  });
});
