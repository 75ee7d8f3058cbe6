import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ManagementOpcode, ManagementStatus } from '../../lib/spec/index.ts';
import { ManagedDevice, ManagedFunction, type Answer } from './managed_function.ts';

const { createProtectionDomain } = ManagementOpcode;

/** Writes a command to the function's management page. Returns false if it does not get the lock. */
const writeToPage = (host: ManagedFunction, command: Uint8Array): boolean => {
  const { port } = host.device;
  if (port.lockManagement(host.underlyingFunction) === null) return false;
  while (!port.canAcceptWrite()) port.step();
  port.writeManagementPage(host.underlyingFunction, 0, command);
  return true;
};

const sequenceNumbers = (answers: readonly Answer[]): number[] =>
  answers.map(({ sequenceNumber }) => sequenceNumber);

const functions = [0, 1, 5];
const log2 = 4;

const actions = fc.array(
  fc.record({
    kind: fc.constantFrom('post', 'post', 'post', 'ring', 'page', 'page', 'again', 'step', 'step'),
    side: fc.nat(functions.length - 1),
    pick: fc.nat(1000),
  }),
  { maxLength: 200 },
);

describe('management_queue', () => {
  it('answers every command once and in order, by doorbell or page, repeated or not', () => {
    fc.assert(
      fc.property(actions, (steps) => {
        const device = new ManagedDevice();
        const hosts = functions.map((number) => {
          const host = new ManagedFunction(device, number, log2);
          // Reaching the wrap of the numbers would take 65536 commands; that of the ring takes 16.
          return { host, commands: [] as Uint8Array[], told: 0, answers: [] as Answer[] };
        });
        for (const { kind, side, pick } of steps) {
          const each = hosts[side]!;
          const { host, commands } = each;
          each.answers.push(...host.takeAnswers());
          if (kind === 'post' && commands.length - each.answers.length < 1 << log2)
            commands.push(host.post(createProtectionDomain));
          else if (kind === 'ring') {
            host.ring();
            each.told = commands.length;
          } else if (kind === 'page' && each.told < commands.length) {
            // Any command of which the device has no notice yet: it must not run before its turn.
            const number = each.told + (pick % (commands.length - each.told));
            if (writeToPage(host, commands[number]!)) each.told = Math.max(each.told, number + 1);
          } else if (kind === 'again' && commands.length > 0)
            writeToPage(host, commands[pick % commands.length]!);
          else if (kind === 'step') device.port.step();
        }
        for (const each of hosts) {
          each.host.ring();
          each.answers.push(...each.host.takeAnswers());
        }
        device.runUntilIdle();
        for (const { host, commands, answers } of hosts) {
          answers.push(...host.takeAnswers());
          expect(sequenceNumbers(answers)).toEqual([...commands.keys()]);
          expect(answers.map(({ token }) => token)).toEqual([...commands.keys()].map((n) => n ^ 0x5a5a));
          // Each was executed once: all created numbers exist, and none twice.
          expect(answers.map(({ output }) => Number(output))).toEqual([...commands.keys()].map((n) => n + 1));
        }
        expect(device.port.verify()).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  it('continues past the end of the sequence numbers', () => {
    const device = new ManagedDevice();
    const host = new ManagedFunction(device, 2, 8);
    const numbers: number[] = [];
    for (let round = 0; round < 258; ++round) {
      for (let command = 0; command < 256; ++command) host.post(ManagementOpcode.destroyProtectionDomain);
      host.ring();
      device.runUntilIdle();
      numbers.push(...sequenceNumbers(host.takeAnswers()));
    }
    expect(numbers).toHaveLength(258 * 256);
    expect(numbers.every((number, at) => number === at % 65536)).toBe(true);
  });

  it('serves functions and the management page in turn', () => {
    const device = new ManagedDevice();
    const hosts = functions.map((number) => new ManagedFunction(device, number, log2));
    const paging = new ManagedFunction(device, 7, log2);
    for (const host of hosts) {
      for (let command = 0; command < 5; ++command) host.post(createProtectionDomain);
      host.ring();
    }
    for (let page = 0; page < 2; ++page) writeToPage(paging, paging.post(createProtectionDomain));
    const order: number[] = [];
    while (device.port.step())
      for (const host of [...hosts, paging])
        if (host.takeAnswers().length > 0) order.push(host.underlyingFunction);
    expect(order.filter((number) => number !== 7)).toEqual(Array.from({ length: 5 }, () => [1, 5, 0]).flat());
    expect(order.lastIndexOf(7)).toBeLessThanOrEqual(3);
  });

  it('refuses a tail further ahead than the queue is long', () => {
    const device = new ManagedDevice();
    const host = new ManagedFunction(device, 1, 2);
    host.device.port.doorbell(1, 5);
    expect(device.port.counters(1).commandsRefused).toBe(1);
    expect(device.port.isAwake()).toBe(false);
    // A tail behind the known one changes nothing.
    host.device.port.doorbell(1, 0xfff0);
    expect(device.port.isAwake()).toBe(false);
    expect(host.execute(createProtectionDomain).status).toBe(ManagementStatus.success);
  });

  it('does nothing for a function without queues', () => {
    const device = new ManagedDevice();
    device.port.doorbell(4, 1);
    expect(device.port.isAwake()).toBe(false);
    const host = new ManagedFunction(device, 1);
    const command = host.post(createProtectionDomain);
    expect(device.port.lockManagement(4)).not.toBeNull();
    device.port.writeManagementPage(4, 0, command);
    device.runUntilIdle();
    expect(device.port.accessesOf(4)).toBe(0);
    expect(device.port.counters(4).commandsRefused).toBe(2);
    expect(device.port.verify()).toBeNull();
  });

  it('answers a command with a wrong number in its slot, and continues', () => {
    const device = new ManagedDevice();
    const host = new ManagedFunction(device, 1);
    host.post(createProtectionDomain, { send_queue_sequence_number: 9 });
    host.post(createProtectionDomain);
    host.ring();
    device.runUntilIdle();
    expect(host.takeAnswers()).toMatchObject([
      { sequenceNumber: 0, status: ManagementStatus.badParameter, output: 32n, inMailbox: 0 },
      { sequenceNumber: 1, status: ManagementStatus.success },
    ]);
  });

  it('stops when a command cannot be read, until the queues restart', () => {
    const device = new ManagedDevice();
    const host = new ManagedFunction(device, 1);
    const other = new ManagedFunction(device, 2);
    const begin = device.address(host.sendQueue);
    device.port.setFaults([{ underlyingFunction: 1, begin, end: begin + 4096n }]);
    host.post(createProtectionDomain);
    host.ring();
    device.runUntilIdle();
    expect(host.takeAnswers()).toEqual([]);
    expect(device.port.counters(1).dmaFaults).toBe(1);
    expect(other.execute(createProtectionDomain).status).toBe(ManagementStatus.success);
    device.port.setFaults([]);
    host.ring();
    device.runUntilIdle();
    expect(host.takeAnswers()).toEqual([]);
    host.begin();
    expect(host.execute(createProtectionDomain).output).toBe(1n);
  });

  it('executes a command that it cannot answer, and counts the fault', () => {
    const device = new ManagedDevice();
    const host = new ManagedFunction(device, 1);
    const begin = device.address(host.completionQueue);
    device.port.setFaults([{ underlyingFunction: 1, begin, end: begin + 4096n }]);
    host.post(createProtectionDomain);
    host.ring();
    device.runUntilIdle();
    expect(device.port.counters(1).dmaFaults).toBe(1);
    device.port.setFaults([]);
    host.begin();
    expect(host.execute(createProtectionDomain).output).toBe(2n);
  });

  it('drops the commands of a reset function only', () => {
    const device = new ManagedDevice();
    const hosts = [1, 2].map((number) => new ManagedFunction(device, number));
    const [reset, kept] = hosts as [ManagedFunction, ManagedFunction];
    for (const host of hosts) writeToPage(host, host.post(createProtectionDomain));
    for (const host of hosts) {
      host.post(createProtectionDomain);
      host.ring();
    }
    device.port.resetFunction(1);
    const accesses = device.port.accessesOf(1);
    device.runUntilIdle();
    expect(device.port.accessesOf(1)).toBe(accesses);
    expect(reset.takeAnswers()).toEqual([]);
    expect(sequenceNumbers(kept.takeAnswers())).toEqual([0, 1]);
    expect(device.port.verify()).toBeNull();
    reset.begin();
    expect(reset.execute(createProtectionDomain).output).toBe(1n);
  });
});
