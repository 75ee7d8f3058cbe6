import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import * as spec from '../../lib/spec/index.ts';
import { RegionType, blockDescriptions } from '../../lib/spec/index.ts';
import { Device } from '../helpers/device.ts';
import type { Bench, Shape } from './verilator.ts';

const nameOfRegion = (region: RegionType): string =>
  Object.entries(RegionType).find(([, value]) => value === region)![0];
const okay = 0;
const slaveError = 2;
const managementLog2 = 8;
const functionRegisters = RegionType.underlyingFunction;
const offsetOfRegion = (region: RegionType, page: number): number =>
  region === RegionType.identity ? 0 : region === RegionType.control ? 0x10000 : 0x20000 + page * 0x10000;

/** The offset of a register of the specification; `index` selects an entry of an array of registers. */
export function offsetOf(block: string, name: string, index = 0): number {
  const register = blockDescriptions
    .find((description) => description.name === block)!
    .registers.find((description) => description.name === name)!;
  return register.offset + index * register.stride;
}

/**
 * Applies the same accesses to hca_front and to the device model. The model executes each at once; compare() runs the bench over all of
 * them and compares the answers.
 */
export class Accesses {
  readonly functions: number;
  readonly buffers: number;
  private readonly shape: Shape;
  private readonly model: Device;
  private readonly lines: string[] = [];
  private readonly answers: { what: string; value: string }[] = [];
  private readonly contextMemory: bigint;
  private readonly contextBytes: bigint;
  private readonly managementPages: bigint[];
  private isHeld = false;

  constructor(shape: Shape) {
    this.shape = shape;
    const of = (name: string): number => Number(shape[name]);
    this.functions = of('UNDERLYING_FUNCTIONS');
    this.buffers = of('VIRTUAL_COLLECT_BUFFERS');
    this.model = new Device({
      underlyingFunctions: this.functions,
      virtualCollectBuffers: this.buffers,
      physicalCollectBuffers: of('PHYSICAL_COLLECT_BUFFERS'),
      dedicatedPhysicalCollectBuffers: of('DEDICATED_PHYSICAL_COLLECT_BUFFERS'),
      managementPhysicalCollectBuffers: of('MANAGEMENT_PHYSICAL_COLLECT_BUFFERS'),
      transmitVirtualLanes: of('TRANSMIT_VIRTUAL_LANES'),
      queuePairs: of('QUEUE_PAIRS'),
    });
    this.contextBytes = this.model.read64(RegionType.identity, 0, spec.IDENTITY_CONTEXT_MEMORY_NEEDED_OFFSET);
    this.contextMemory = this.model.address(this.model.allocate(Number(this.contextBytes)));
    this.managementPages = Array.from({ length: this.functions }, () =>
      this.model.address(this.model.allocate(2 * (64 << managementLog2))),
    );
    this.giveMemory();
  }

  /** Sets up the parts of the model that hca_front lacks, after a reset: context memory, and the queues that number management commands. */
  private giveMemory(): void {
    this.model.write64(RegionType.control, 0, spec.CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET, this.contextMemory);
    this.model.write64(RegionType.control, 0, spec.CONTROL_CONTEXT_MEMORY_BYTES_OFFSET, this.contextBytes);
    for (let number = 0; number < this.functions; ++number) this.beginManagement(number);
  }

  private beginManagement(number: number): void {
    const at = this.managementPages[number]!;
    this.model.write32(
      functionRegisters,
      number,
      spec.UNDERLYING_FUNCTION_MANAGEMENT_QUEUE_SIZE_OFFSET,
      managementLog2,
    );
    this.model.write64(
      functionRegisters,
      number,
      spec.UNDERLYING_FUNCTION_MANAGEMENT_SEND_QUEUE_ADDRESS_OFFSET,
      at,
    );
    this.model.write64(
      functionRegisters,
      number,
      spec.UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET,
      at + BigInt(64 << managementLog2),
    );
  }

  /** Records the expected answer to the last line of the bench. */
  private answer(what: string, value: number): void {
    this.answers.push({ what, value: (value >>> 0).toString(16) });
  }

  private refusedOfModel(region: RegionType, page: number): bigint {
    return this.model.read64(
      functionRegisters,
      region === RegionType.control ? 0 : page,
      spec.UNDERLYING_FUNCTION_READS_REFUSED_OFFSET,
    );
  }

  private settle(): void {
    if (!this.isHeld) this.model.runUntilIdle();
  }

  /** Reads a register of both; `value` is the expected value if hca_front has its own. */
  read(region: RegionType, page: number, offset: number, value?: number): number {
    const answer = this.model.read32(region, page, offset);
    this.lines.push(`r ${(offsetOfRegion(region, page) + offset).toString(16)}`);
    this.answer(`read ${nameOfRegion(region)} ${page} ${offset.toString(16)}`, value ?? answer);
    return answer;
  }

  /** Reads a register of the model only. */
  modelRead(region: RegionType, page: number, offset: number): number {
    return this.model.read32(region, page, offset);
  }

  /** Reads a register of hca_front only. */
  readOwn(region: RegionType, page: number, offset: number, value: number): void {
    this.lines.push(`r ${(offsetOfRegion(region, page) + offset).toString(16)}`);
    this.answer(`read ${nameOfRegion(region)} ${page} ${offset.toString(16)}`, value);
  }

  /** Writes a register of both; hca_front must answer SLVERR if the model counts a refusal. */
  write(region: RegionType, page: number, offset: number, value: number, strobes = 15): void {
    const before = this.refusedOfModel(region, page);
    let enables = 0n;
    for (let byte = 0; byte < 4; ++byte) if ((strobes >> byte) & 1) enables |= 1n << BigInt(byte);
    this.model.write(
      region,
      page,
      offset,
      new Uint8Array(Uint32Array.of(value).buffer),
      enables === 0xfn ? undefined : enables,
    );
    const refused = this.refusedOfModel(region, page) > before;
    this.settle();
    const address = (offsetOfRegion(region, page) + offset).toString(16);
    this.lines.push(`w ${address} ${(value >>> 0).toString(16)} ${strobes.toString(16)}`);
    this.answer(
      `write ${nameOfRegion(region)} ${page} ${offset.toString(16)}: ${value.toString(16)}`,
      refused ? slaveError : okay,
    );
  }

  /** Writes bytes to a VCB page, as one transaction. */
  writePage(buffer: number, offset: number, bytes: Uint8Array): void {
    this.model.write(RegionType.virtualCollectBuffer, buffer, offset, bytes);
    this.settle();
    const address = buffer * spec.VIRTUAL_COLLECT_BUFFER_STRIDE + offset;
    this.lines.push(`b ${address.toString(16)} ${Buffer.from(bytes).toString('hex')}`);
  }

  /** Writes bytes to a VCB page and, before the beat is done, a register. */
  writePageAndRegister(
    buffer: number,
    pageOffset: number,
    bytes: Uint8Array,
    region: RegionType,
    page: number,
    offset: number,
    value: number,
    strobes: number,
  ): void {
    this.writePage(buffer, pageOffset, bytes);
    const burst = this.lines.pop()!.slice(2);
    this.write(region, page, offset, value, strobes);
    this.lines.push(`o ${burst} ${this.lines.pop()!.slice(2)}`);
  }

  /** Stops the acceptance of management commands, or resumes it. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.lines.push(`h ${Number(isHeld)}`, 's 80');
    this.settle();
  }

  /** Reports the functions without DMA in flight, one bit each. */
  drained(functions: number): void {
    this.lines.push(`d ${functions.toString(16)}`, 's 8');
  }

  wait(clocks: number): void {
    this.lines.push(`s ${clocks.toString(16)}`);
  }

  /** Compares the management commands since the last call. */
  commands(
    expected: readonly { buffer: number; function: number; number: number; bytes: Uint8Array }[],
  ): void {
    this.lines.push('s 80', 'm');
    this.answers.push({
      what: 'management commands',
      value: expected
        .map((command) =>
          [
            command.buffer.toString(16),
            command.function.toString(16),
            command.number.toString(16),
            Buffer.from(command.bytes).toString('hex'),
          ].join(' '),
        )
        .join(' '),
    });
  }

  /** Resets a function of both and waits until the reset has ended. */
  resetFunction(number: number): void {
    this.write(functionRegisters, number, spec.UNDERLYING_FUNCTION_RESET_OFFSET, 1);
    this.beginManagement(number);
    this.wait(8 * this.buffers + Number(this.shape['QUEUE_PAIRS']) + 64);
  }

  /** Resets both. */
  resetDevice(): void {
    this.write(RegionType.control, 0, spec.CONTROL_CONTROL_OFFSET, 2);
    this.giveMemory();
    this.wait(Number(this.shape['QUEUE_PAIRS']) + 64);
  }

  /** Runs the bench over all accesses and compares the answers. */
  compare(bench: Bench, name: string): void {
    const file = `${name}.txt`;
    writeFileSync(path.join(bench.directory, file), `${this.lines.join('\n')}\n`);
    const { output, ok } = bench.run(file);
    expect(ok, output).toBe(true);
    const lines = output.split('\n').slice(0, -1);
    expect(lines.length).toBe(this.answers.length);
    this.answers.forEach(({ what, value }, number) =>
      expect(`${what}, access ${number}: ${lines[number]}`).toBe(`${what}, access ${number}: ${value}`),
    );
    expect(this.model.port.verify()).toBeNull();
  }
}
