import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  blockDescriptions,
  CompletionStatus,
  CONTROL_CONTROL_OFFSET,
  CONTROL_HALF_WRITTEN_LIMIT_OFFSET,
  CONTROL_WRITES_UNCLAIMED_OFFSET,
  EventType,
  KickOrigin,
  KickRecordType,
  ManagementOpcode,
  QualityOfServiceLevel,
  RegionType,
  UNDERLYING_FUNCTION_COMMANDS_SENT_OFFSET,
  UNDERLYING_FUNCTION_EVENT_QUEUE_ARM_OFFSET,
  UNDERLYING_FUNCTION_PHYSICAL_COLLECT_BUFFERS_IN_USE_OFFSET,
  UNDERLYING_FUNCTION_RESET_OFFSET,
  UNDERLYING_FUNCTION_SEND_QUEUE_MODE_KICKS_OFFSET,
  UNDERLYING_FUNCTION_STATUS_OFFSET,
} from '../../lib/spec/index.ts';
import { Device } from '../helpers/device.ts';
import { FunctionHost, type KickRecord } from './function_host.ts';

/** VCB `index` of a function under the default division. */
const vcb = (underlyingFunction: number, index: number): number => underlyingFunction * 32 + index;

const sentNumbers = (records: readonly KickRecord[]): number[] =>
  records
    .filter(({ type }) => type === KickRecordType.sent)
    .map((record) => record.send_queue_sequence_number);

const enabledDevice = (options: ConstructorParameters<typeof Device>[0] = {}): Device => {
  const device = new Device(options);
  device.enable();
  return device;
};

const counter = (device: Device, underlyingFunction: number, offset: number): number =>
  Number(device.read64(RegionType.underlyingFunction, underlyingFunction, offset));

describe('hca', () => {
  it('executes a command posted through a VCB, and writes its kick records', () => {
    const device = enabledDevice();
    const host = new FunctionHost(device, 1);
    const queue = host.createQueuePair();
    device.writeCommand(vcb(1, 3), queue.prepare(96));
    device.runUntilIdle();
    const [kicked, sent, ...more] = host.takeKickRecords();
    expect(more).toEqual([]);
    expect(kicked).toMatchObject({
      type: KickRecordType.kicked,
      underlying_function: 1,
      origin: KickOrigin.collected,
      virtual_collect_buffer: vcb(1, 3),
      queue_pair_number: queue.number,
      send_queue_sequence_number: 0,
      length: 96,
    });
    expect(sent).toMatchObject({
      type: KickRecordType.sent,
      kick_number: kicked!.kick_number,
      status: CompletionStatus.success,
    });
    expect(counter(device, 1, UNDERLYING_FUNCTION_COMMANDS_SENT_OFFSET)).toBe(1);
    expect(device.port.verify()).toBeNull();
    expect(host.takeEvents()).toEqual([]);
  });

  it('executes the commands that find no PCB from the send queue, in order', () => {
    const device = enabledDevice({ physicalCollectBuffers: 40 });
    const host = new FunctionHost(device, 1);
    const queue = host.createQueuePair(QualityOfServiceLevel.high);
    // Four PCBs of its own and the eight that all functions share.
    for (let index = 0; index < 12; ++index)
      device.write(RegionType.virtualCollectBuffer, vcb(1, index), 8, new Uint8Array(8));
    for (let number = 0; number < 5; ++number) device.writeCommand(vcb(1, 20), queue.prepare(number * 64));
    device.runUntilIdle();
    expect(counter(device, 1, UNDERLYING_FUNCTION_SEND_QUEUE_MODE_KICKS_OFFSET)).toBe(5);
    expect(sentNumbers(host.takeKickRecords())).toEqual([0, 1, 2, 3, 4]);
    expect(device.port.verify()).toBeNull();
  });

  it('needs a step when a half-written command exceeds the limit', () => {
    const device = enabledDevice();
    const host = new FunctionHost(device, 1);
    device.write64(RegionType.control, 0, CONTROL_HALF_WRITTEN_LIMIT_OFFSET, 1000n);
    expect(device.port.nextDeadline()).toBe(0xffff_ffff_ffff_ffffn);
    device.port.setTime(500n);
    device.write(RegionType.virtualCollectBuffer, vcb(1, 9), 8, new Uint8Array(8));
    const deadline = device.port.nextDeadline();
    expect(deadline).toBeGreaterThanOrEqual(1500n);
    expect(deadline).toBeLessThanOrEqual(1501n);
    device.runUntilIdle();
    expect(host.takeEvents()).toEqual([]);
    device.port.setTime(deadline);
    device.runUntilIdle();
    expect(host.takeEvents()).toMatchObject([{ type: EventType.halfWrittenCommand, object: vcb(1, 9) }]);
    expect(device.port.nextDeadline()).toBe(0xffff_ffff_ffff_ffffn);
    expect(device.port.verify()).toBeNull();
  });

  it('interrupts for an event queue armed through the register page', () => {
    const device = enabledDevice();
    const host = new FunctionHost(device, 1);
    host.takeEvents();
    const arm = (): void =>
      device.write32(RegionType.underlyingFunction, 1, UNDERLYING_FUNCTION_EVENT_QUEUE_ARM_OFFSET, 0);
    arm();
    expect(device.port.interrupts(1, 0)).toBe(0);
    host.management.succeed(ManagementOpcode.createProtectionDomain);
    expect(device.port.interrupts(1, 0)).toBe(1);
    host.management.succeed(ManagementOpcode.createProtectionDomain);
    expect(device.port.interrupts(1, 0)).toBe(1);
    arm();
    expect(device.port.interrupts(1, 0)).toBe(2);
  });

  it('does nothing while it is not enabled', () => {
    const device = enabledDevice();
    const host = new FunctionHost(device, 1);
    const queue = host.createQueuePair();
    device.write32(RegionType.control, 0, CONTROL_CONTROL_OFFSET, 0);
    const accesses = device.port.accessesOf(1);
    device.writeCommand(vcb(1, 0), queue.prepare(0));
    device.runUntilIdle();
    expect(device.port.accessesOf(1)).toBe(accesses);
    expect(host.takeKickRecords()).toEqual([]);
    expect(device.read64(RegionType.control, 0, CONTROL_WRITES_UNCLAIMED_OFFSET)).toBe(1n);
  });

  it('has its initial state after a reset', () => {
    const device = enabledDevice();
    const host = new FunctionHost(device, 1);
    const queue = host.createQueuePair();
    device.writeCommand(vcb(1, 0), queue.prepare(128));
    device.write32(RegionType.control, 0, CONTROL_CONTROL_OFFSET, 2);
    expect(device.port.step()).toBe(false);
    expect(device.read32(RegionType.control, 0, CONTROL_CONTROL_OFFSET)).toBe(0);
    expect(device.port.verify()).toBeNull();
    device.enable();
    const again = new FunctionHost(device, 1);
    const other = again.createQueuePair();
    device.writeCommand(vcb(1, 0), other.prepare(0));
    device.runUntilIdle();
    expect(sentNumbers(again.takeKickRecords())).toEqual([0]);
  });

  it('leaves no residue in a function after any number of resets', () => {
    const device = enabledDevice({ pageTableEntries: 1024, memoryKeys: 256, memoryBytes: 16 << 20 });
    const page = blockDescriptions.find(({ name }) => name === 'underlying_function')!;
    for (let cycle = 0; cycle < 50; ++cycle) {
      const host = new FunctionHost(device, 1);
      const queue = host.createQueuePair();
      expect(queue.protectionDomain).toBe(1);
      device.writeCommand(vcb(1, 0), queue.prepare(8));
      device.port.resetFunction(1);
      expect(device.port.verify()).toBeNull();
      for (const { name, offset, reset, width } of page.registers.filter(({ access }) => access === 'rw')) {
        const low = device.read32(RegionType.underlyingFunction, 1, offset);
        const high = width === 64 ? device.read32(RegionType.underlyingFunction, 1, offset + 4) : 0;
        expect([name, (BigInt(high) << 32n) | BigInt(low)]).toEqual([name, reset]);
      }
    }
  });

  it('resets a function in the middle of its commands, and leaves other functions undisturbed', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            underlyingFunction: fc.integer({ min: 1, max: 2 }),
            queue: fc.nat(1),
            payload: fc.nat(256),
            steps: fc.nat(4),
            half: fc.boolean(),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        fc.boolean(),
        fc.boolean(),
        (posts, scarce, byRegister) => {
          const device = enabledDevice(scarce ? { physicalCollectBuffers: 33 } : {});
          const hosts = [1, 2].map((underlyingFunction) => new FunctionHost(device, underlyingFunction));
          const queues = hosts.map((host) => [
            host.createQueuePair(),
            host.createQueuePair(QualityOfServiceLevel.high),
          ]);
          const posted = [0, 0];
          posts.forEach(({ underlyingFunction, queue, payload, steps, half }, index) => {
            const command = queues[underlyingFunction - 1]![queue]!.prepare(payload);
            // The function that stays writes complete commands; the one to be reset may omit the last line.
            const torn = half && underlyingFunction === 1;
            device.writeCommand(vcb(underlyingFunction, index), torn ? command.subarray(0, 56) : command);
            if (underlyingFunction === 2) ++posted[queue]!;
            for (let step = 0; step < steps; ++step) {
              device.port.step();
              expect(device.port.verify()).toBeNull();
            }
          });
          if (byRegister)
            device.write32(RegionType.underlyingFunction, 1, UNDERLYING_FUNCTION_RESET_OFFSET, 1);
          else device.port.resetFunction(1);
          expect(device.port.verify()).toBeNull();
          expect(device.read32(RegionType.underlyingFunction, 1, UNDERLYING_FUNCTION_STATUS_OFFSET)).toBe(
            0x101,
          );
          for (const group of [0, 1, 2])
            expect(
              device.read32(
                RegionType.underlyingFunction,
                1,
                UNDERLYING_FUNCTION_PHYSICAL_COLLECT_BUFFERS_IN_USE_OFFSET + group * 4,
              ),
            ).toBe(0);
          const accesses = device.port.accessesOf(1);
          device.runUntilIdle();
          expect(device.port.verify()).toBeNull();
          expect(device.port.accessesOf(1)).toBe(accesses);
          const records = hosts[1]!.takeKickRecords();
          queues[1]!.forEach((queue, index) =>
            expect(
              sentNumbers(records.filter((record) => record.queue_pair_number === queue.number)),
            ).toEqual(Array.from({ length: posted[index]! }, (_, number) => number)),
          );
          // The function that was reset can be used again.
          const again = new FunctionHost(device, 1);
          const queue = again.createQueuePair();
          device.writeCommand(vcb(1, 31), queue.prepare(32));
          device.runUntilIdle();
          expect(sentNumbers(again.takeKickRecords())).toEqual([0]);
        },
      ),
      { numRuns: 60 },
    );
  });
});
