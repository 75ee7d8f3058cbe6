import { describe, expect, it } from 'vitest';

import { ManagementOpcode, PhysicalCollectBufferState, Refusal } from '../../lib/spec/enums.ts';
import { makeCollectBuffer, type CollectBufferPort } from '../helpers/collect_buffer_port.ts';
import { lineWrite, makeCommand } from '../helpers/command.ts';
import { viewOf } from './data_view.ts';
import {
  getEventUnitObject,
  getEventUnitReason,
  getEventUnitUnderlyingFunction,
  getManagementUnitPhysicalCollectBuffer,
  getManagementUnitSendQueueSequenceNumber,
  getManagementUnitUnderlyingFunction,
  setManagementCommandOpcode,
} from './fields.ts';

const firstDedicated = 64;

function managementCommand(
  sequenceNumber: number,
  options: Partial<Parameters<typeof makeCommand>[0]> = {},
): Uint8Array {
  const command = makeCommand({ length: 0, queuePairNumber: 0, sequenceNumber, ...options });
  setManagementCommandOpcode(viewOf(command), 0, ManagementOpcode.queryFunction);
  return command;
}

function writePage(port: CollectBufferPort, underlyingFunction: number, command: Uint8Array): void {
  for (let at = 0; at < command.length; at += 64)
    port.writeManagementPage(underlyingFunction, at, command.slice(at, at + 64));
}

describe('a management page', () => {
  it('collects a command in a locked dedicated PCB and kicks it once', () => {
    const port = makeCollectBuffer();
    expect(port.lockManagement(3)).toBe(firstDedicated);
    expect(port.lockManagement(3)).toBe(firstDedicated);
    expect(port.physical(firstDedicated)).toMatchObject({
      state: PhysicalCollectBufferState.locked,
      underlyingFunction: 3,
    });
    const command = managementCommand(77, { length: 24 });
    for (let dword = command.length / 4 - 1; dword >= 0; dword--) {
      const { offset, bytes } = lineWrite(command, [dword]);
      expect(port.takeManagementUnits()).toEqual([]);
      port.writeManagementPage(3, offset, bytes);
      expect(port.verify()).toBeNull();
    }
    const units = port.takeManagementUnits().map((unit) => viewOf(unit));
    expect(units.length).toBe(1);
    expect(getManagementUnitPhysicalCollectBuffer(units[0]!, 0)).toBe(firstDedicated);
    expect(getManagementUnitUnderlyingFunction(units[0]!, 0)).toBe(3);
    expect(getManagementUnitSendQueueSequenceNumber(units[0]!, 0)).toBe(77);
    expect(port.physical(firstDedicated).data.slice(0, command.length)).toEqual(command);
    port.writeManagementPage(3, 0, command.slice(0, 4)); // the lock is gone
    expect(port.counters(3)['writesDropped']).toBe(1);
    port.release(firstDedicated);
    expect(port.physical(firstDedicated).state).toBe(PhysicalCollectBufferState.free);
    expect(port.verify()).toBeNull();
  });

  it('holds no more locks than there are PCBs for management, and never those of the scheduler', () => {
    const port = makeCollectBuffer();
    expect([port.lockManagement(0), port.lockManagement(1), port.lockManagement(2)]).toEqual([64, 65, null]);
    expect(port.takeManagement()).toBeNull();
    const scheduler = Array.from({ length: 7 }, () => port.takeDedicated());
    expect(scheduler).toEqual([66, 67, 68, 69, 70, 71, null]);
    port.unlockManagement(0);
    expect(port.takeManagement()).toBe(64);
    expect(port.physical(64).state).toBe(PhysicalCollectBufferState.fetching);
    expect(port.lockManagement(2)).toBeNull();
    port.release(64);
    expect(port.lockManagement(2)).toBe(64);
    expect(port.groups(0).sharedAvailable).toBe(32);
    expect(port.verify()).toBeNull();
  });

  it('commands of two functions do not mix', () => {
    const port = makeCollectBuffer();
    port.lockManagement(1);
    port.lockManagement(2);
    const one = managementCommand(1, { length: 64 });
    const two = managementCommand(2, { length: 64 });
    port.writeManagementPage(1, 64, one.slice(64));
    port.writeManagementPage(2, 0, two.slice(0, 64));
    port.writeManagementPage(1, 0, one.slice(0, 64));
    port.writeManagementPage(2, 64, two.slice(64));
    const numbers = port
      .takeManagementUnits()
      .map((unit) => getManagementUnitSendQueueSequenceNumber(viewOf(unit), 0));
    expect(numbers).toEqual([1, 2]);
  });

  it.each([
    ['broken', (port: CollectBufferPort) => port.breakManagementLock(firstDedicated)],
    ['given back', (port: CollectBufferPort) => port.unlockManagement(3)],
    ['lost in a reset of its function', (port: CollectBufferPort) => port.resetFunction(3)],
  ] as const)('a lock that is %s leaves nothing behind', (_, end) => {
    const port = makeCollectBuffer();
    port.lockManagement(3);
    port.writeManagementPage(3, 8, new Uint8Array(56));
    end(port);
    expect(port.physical(firstDedicated).state).toBe(PhysicalCollectBufferState.free);
    port.writeManagementPage(3, 0, managementCommand(1).slice(0, 8));
    expect(port.takeManagementUnits()).toEqual([]);
    expect(port.lockManagement(4)).toBe(firstDedicated);
    expect(port.verify()).toBeNull();
  });

  it('a kicked command ignores break and unlock', () => {
    const port = makeCollectBuffer();
    port.lockManagement(3);
    writePage(port, 3, managementCommand(1));
    port.breakManagementLock(firstDedicated);
    port.unlockManagement(3);
    expect(port.physical(firstDedicated).state).toBe(PhysicalCollectBufferState.kicked);
  });

  const word = new Uint8Array(4);
  it.each([
    ['a queue pair number', Refusal.unknownQueuePair, 0, managementCommand(1, { queuePairNumber: 5 }), 0xffn],
    ['a level', Refusal.wrongQualityOfServiceLevel, 0, managementCommand(1, { level: 1 }), 0xffn],
    ['an unknown version', Refusal.unknownVersion, 0, managementCommand(1, { version: 9 }), 0xffn],
    [
      'too much length',
      Refusal.lengthOverMaximum,
      0,
      managementCommand(1, { length: 300 }).slice(0, 8),
      0xffn,
    ],
    ['a write beyond 320 B', Refusal.writeBeyondCommand, 320, word, 0xfn],
    ['part of a DWORD', Refusal.partialDoubleWord, 8, word, 0x3n],
  ] as const)('%s is refused: one event, and the lock is lost', (_, refusal, offset, bytes, byteEnables) => {
    const port = makeCollectBuffer();
    port.lockManagement(3);
    port.writeManagementPage(3, offset, bytes.slice(0, 8), byteEnables);
    const events = port.takeEvents().map((event) => viewOf(event));
    expect(events.length).toBe(1);
    expect(getEventUnitReason(events[0]!, 0)).toBe(refusal);
    expect(getEventUnitObject(events[0]!, 0)).toBe(0xffff);
    expect(getEventUnitUnderlyingFunction(events[0]!, 0)).toBe(3);
    expect(port.physical(firstDedicated).state).toBe(PhysicalCollectBufferState.free);
    expect(port.counters(3)['commandsRefused']).toBe(1);
    expect(port.verify()).toBeNull();
  });
});
