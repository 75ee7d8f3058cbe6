// A function tries to reach objects of another one by registers and mailboxes: pages, queues of events and completions, addresses.
import { describe, expect, it } from 'vitest';

import { blockNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { QueuePair } from '../../lib/driver/queue_pair.ts';
import {
  COMMAND_VERSION,
  CREATE_EVENT_QUEUE_INPUT_BYTES,
  ManagementOpcode,
  ManagementStatus,
  Opcode,
  RegionType,
  QUERY_FUNCTION_OUTPUT_BYTES,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import { settle } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { driverOf, expectNoSuchObject, expectOutOfReach, refusalOf } from './reach.ts';

const pageBytes = 4096;
const offsetOf = (name: string): number => registerNamed(blockNamed('underlying_function'), name).offset;

/** Writes and reads every register of a page of a region as the intruder; expects each read to return all ones. */
function touchPage({ board, context }: Verbs, type: RegionType, page: number, block: string): void {
  const { device } = context.driver;
  const { bar, offset, pageStride } = device.regions.find(type);
  for (const register of blockNamed(block).registers) {
    const at = offset + page * pageStride + register.offset;
    board.post({ underlyingFunction: 1, bar, offset: at, data: new Uint8Array(8).fill(1) });
    expect(device.board.read32(bar, at)).toBe(0xffff_ffff);
  }
}

/** The status of a management command of a function whose queues and mailboxes the test has placed itself. */
function commandAt(
  { board, context }: Verbs,
  place: { sendQueue?: bigint; completionQueue?: bigint },
  fields: Parameters<typeof encode>[1],
): number {
  const { device } = context.driver;
  const [commands, answers] = [device.allocate(pageBytes), device.allocate(pageBytes)];
  const bytes = new Uint8Array(commands.buffer);
  bytes.set(encode('management_command', { version: COMMAND_VERSION, ...fields }));
  device.page.write32(offsetOf('management_queue_size'), 4);
  device.page.write64(offsetOf('management_send_queue_address'), place.sendQueue ?? commands.address);
  device.page.write64(
    offsetOf('management_completion_queue_address'),
    place.completionQueue ?? answers.address,
  );
  device.page.write32(offsetOf('management_doorbell'), 1);
  board.runUntilIdle();
  return Number(decode('management_completion', new Uint8Array(answers.buffer, 0, 64).slice())['status']);
}

describe('a function cannot reach, of another function,', () => {
  it('its registers', () => {
    expectOutOfReach(({ intruder }) => {
      touchPage(intruder, RegionType.underlyingFunction, 2, 'underlying_function');
    }, 'unsupported');
  });

  it('the control registers', () => {
    expectOutOfReach(({ intruder }) => {
      touchPage(intruder, RegionType.control, 0, 'control');
    }, 'unsupported');
  });

  it('a completion queue, to arm it', () => {
    expectOutOfReach(({ intruder, owner }) => {
      const { number } = owner.completionQueue.driver;
      driverOf(intruder).device.page.write64(offsetOf('completion_queue_arm'), BigInt(number));
      intruder.board.runUntilIdle();
    }, 'values');
  });

  it('a completion queue, to destroy it or to complete into it', () => {
    expectOutOfReach(({ intruder, owner }) => {
      const { completionQueue } = owner;
      expectNoSuchObject(intruder, ManagementOpcode.destroyCompletionQueue, completionQueue.driver.number);
      const options = {
        protectionDomain: intruder.protectionDomain.driver,
        sendQueue: { entries: 4, gatherEntries: 1, inlineBytes: 0 },
        sendCompletionQueue: completionQueue.driver.number,
      };
      const error = refusalOf(() => new QueuePair(driverOf(intruder), options));
      expect(error.code).toBe('EINVAL');
      expect(error.attribute).toBe('sendCompletionQueue');
    });
  });

  it('an event queue, because a number names its own event queue', () => {
    expectOutOfReach(({ intruder }) => {
      const { page } = driverOf(intruder).device;
      page.write32(offsetOf('event_queue_arm'), 1);
      expectNoSuchObject(intruder, ManagementOpcode.destroyEventQueue, 7);
      driverOf(intruder).management.execute({
        verb: 'reach',
        opcode: ManagementOpcode.destroyEventQueue,
        object: 0,
      });
    });
  });

  it('a receive queue through its doorbell', () => {
    expectOutOfReach(({ intruder, ends }) => {
      const { number } = ends[0].queuePair;
      driverOf(intruder).device.page.write64(offsetOf('receive_doorbell'), BigInt(number) | (5n << 32n));
      intruder.board.runUntilIdle();
    }, 'values');
  });

  it('memory through an input mailbox', () => {
    expectOutOfReach(({ intruder, owner }) => {
      const theirs = owner.protectionDomain.allocate(pageBytes);
      const fields = {
        opcode: ManagementOpcode.createEventQueue,
        input_mailbox: theirs.address,
        input_length: CREATE_EVENT_QUEUE_INPUT_BYTES,
      };
      expect(commandAt(intruder, {}, fields)).toBe(ManagementStatus.mailboxFault);
    }, 'faults');
  });

  it('memory through an output mailbox', () => {
    expectOutOfReach(({ intruder, owner }) => {
      const theirs = owner.protectionDomain.allocate(pageBytes);
      const fields = {
        opcode: ManagementOpcode.queryFunction,
        output_mailbox: theirs.address,
        output_length: QUERY_FUNCTION_OUTPUT_BYTES,
      };
      expect(commandAt(intruder, {}, fields)).toBe(ManagementStatus.mailboxFault);
      expect(theirs.bytes.every((byte) => byte === 0)).toBe(true);
    }, 'faults');
  });

  it.each(['sendQueue', 'completionQueue'] as const)(
    'memory through the address of a management %s',
    (queue) => {
      expectOutOfReach(({ intruder, owner }) => {
        const theirs = owner.protectionDomain.allocate(pageBytes);
        commandAt(intruder, { [queue]: theirs.address }, { opcode: ManagementOpcode.queryFunction });
        expect(theirs.bytes.every((byte) => byte === 0)).toBe(true);
      }, 'faults');
    },
  );

  it('memory through the kick record ring', () => {
    expectOutOfReach(({ intruder, owner, own }) => {
      const theirs = owner.protectionDomain.allocate(pageBytes);
      const { page } = driverOf(intruder).device;
      page.write64(offsetOf('kick_record_address'), theirs.address);
      page.write64(offsetOf('kick_record_head_address'), theirs.address);
      page.write32(offsetOf('kick_record_control'), 1 + (4 << 8));
      own[0].queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
      settle(own[0]);
      expect(theirs.bytes.every((byte) => byte === 0)).toBe(true);
    }, 'faults');
  });

  it('the lock of a management page', () => {
    expectOutOfReach(({ control, intruder, owner }) => {
      const lockOf = (verbs: Verbs): number =>
        driverOf(verbs).device.page.read32(offsetOf('management_lock')) & 1;
      expect([lockOf(owner), lockOf(intruder), lockOf(control)]).toEqual([1, 1, 0]);
      driverOf(intruder).device.page.write32(offsetOf('management_unlock'), 1);
      driverOf(intruder).device.page.write32(offsetOf('management_unlock'), 1);
      expect([lockOf(control), lockOf(intruder)]).toEqual([1, 0]);
      driverOf(owner).device.page.write32(offsetOf('management_unlock'), 1);
    });
  });
});
