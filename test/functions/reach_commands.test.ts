// A function tries to reach objects of another one by its commands: pages and slots, queue pairs, keys and memory.
import { describe, expect, it } from 'vitest';

import { MemoryRegion } from '../../lib/driver/memory_region.ts';
import { CompletionStatus, Opcode, QueuePairState } from '../../lib/index.ts';
import {
  AccessFlag,
  COMMAND_VERSION,
  DOORBELL_SLOTS_OFFSET,
  DOORBELL_SLOT_WRITE_BYTES,
  DoorbellSlot,
  ManagementOpcode,
  Refusal,
  encode,
} from '../../lib/spec/index.ts';
import { makeMemory, settle, type End } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { eventsOf, functionRegister } from '../helpers/function_verbs.ts';
import { driverOf, expectNoSuchObject, expectOutOfReach } from './reach.ts';

/** Writes the header of a SEND to a VCB page through the intruder's BAR. */
function command({ board, context }: Verbs, page: number, queuePairNumber: number): void {
  const { bar } = context.driver.device.virtualCollectBufferRegion;
  const fields = { opcode: Opcode.send, version: COMMAND_VERSION, queue_pair_number: queuePairNumber };
  const data = encode('command_header', fields).slice(0, 64);
  board.post({ underlyingFunction: 1, bar, offset: page, data });
  board.runUntilIdle();
}

/** Writes a doorbell slot of a VCB page through the intruder's BAR. */
function ring({ board, context }: Verbs, page: number, slot: DoorbellSlot, queuePairNumber: number): void {
  const { bar } = context.driver.device.virtualCollectBufferRegion;
  const data = encode('doorbell_slot_write', { queue_pair_number: queuePairNumber });
  const offset = page + DOORBELL_SLOTS_OFFSET + slot * DOORBELL_SLOT_WRITE_BYTES;
  board.post({ underlyingFunction: 1, bar, offset, data });
  board.runUntilIdle();
}

const pageOf = (verbs: Verbs): { offset: number; number: number } =>
  driverOf(verbs).virtualCollectBuffers.all[0]!;

/** Expects a work request of the intruder to fail. */
function expectToFail([from]: readonly [End, End], status: CompletionStatus): void {
  expect(settle(from)).toMatchObject([{ wrId: 7, status }]);
}

describe('a function cannot reach, of another function,', () => {
  it('a page of its virtual collect buffers', () => {
    expectOutOfReach(({ intruder, owner, own }) => {
      command(intruder, pageOf(owner).offset, own[0].queuePair.number);
    }, 'unclaimed');
  });

  it('a half-written command', () => {
    expectOutOfReach(({ control, intruder, owner, ends: [{ queuePair }] }) => {
      const { virtualCollectBuffers, device } = driverOf(owner);
      const page = pageOf(owner).offset;
      const segments = new Uint8Array(16);
      control.board.post({
        underlyingFunction: 2,
        bar: device.virtualCollectBufferRegion.bar,
        offset: page + 16,
        data: segments,
      });
      for (const slot of [DoorbellSlot.cancel, DoorbellSlot.stop]) ring(intruder, page, slot, 0);
      command(intruder, page, queuePair.number);
      expect(functionRegister(owner, 'virtual_collect_buffer_in_use')[0]).toBe(1n);
      // Only the owner can cancel the command, which the owner's page counts.
      const cancelled = functionRegister(owner, 'commands_cancelled')[0]!;
      virtualCollectBuffers.all[0]!.cancel();
      control.board.runUntilIdle();
      expect(functionRegister(owner, 'commands_cancelled')).toEqual([cancelled + 1n]);
    }, 'unclaimed');
  });

  it('a doorbell slot', () => {
    expectOutOfReach(({ intruder, owner, ends }) => {
      for (const slot of [DoorbellSlot.start, DoorbellSlot.stop, DoorbellSlot.cancel])
        ring(intruder, pageOf(owner).offset, slot, ends[0].queuePair.number);
    }, 'unclaimed');
  });

  it('a queue pair through a command', () => {
    expectOutOfReach(({ intruder, ends }) => {
      const page = pageOf(intruder);
      command(intruder, page.offset, ends[0].queuePair.number);
      expect(eventsOf(intruder)).toMatchObject([
        { name: 'virtualCollectBufferError', object: page.number, reason: Refusal.unknownQueuePair },
      ]);
    }, 'commands');
  });

  it.each([DoorbellSlot.start, DoorbellSlot.stop])(
    'a queue pair through doorbell slot %i of its own page',
    (slot) => {
      expectOutOfReach(({ intruder, ends }) => {
        ring(intruder, pageOf(intruder).offset, slot, ends[0].queuePair.number);
      }, 'commands');
    },
  );

  it('a queue pair through management commands', () => {
    expectOutOfReach(({ intruder, ends }) => {
      const { number } = ends[0].queuePair;
      const error = encode('queue_pair_attributes', { attribute_mask: 1, state: QueuePairState.error });
      expectNoSuchObject(intruder, ManagementOpcode.queryQueuePair, number);
      expectNoSuchObject(intruder, ManagementOpcode.modifyQueuePair, number, error);
      expectNoSuchObject(intruder, ManagementOpcode.destroyQueuePair, number);
    });
  });

  it('memory through its key in a gather list', () => {
    expectOutOfReach(({ owner, own }) => {
      const [from, to] = own;
      const { localKey } = owner.protectionDomain.allocate(64);
      const gather = [{ ...makeMemory(from, 64).region.slice(), localKey }];
      const remote = makeMemory(to, 64).region.remote();
      from.queuePair.postSend({ opcode: Opcode.rdmaWrite, gather, remote, wrId: 7 });
      expectToFail(own, CompletionStatus.localProtectionError);
    }, 'failures');
  });

  it('memory through its key and address in an RDMA request', () => {
    expectOutOfReach(({ ends, own }) => {
      const { region, data } = makeMemory(ends[0], 64, 1);
      const before = Uint8Array.from(data);
      const inlineData = new Uint8Array(64);
      own[0].queuePair.postSend({ opcode: Opcode.rdmaWrite, inlineData, remote: region.remote(), wrId: 7 });
      expectToFail(own, CompletionStatus.remoteAccessError);
      expect(data).toEqual(before);
    }, 'answers');
  });

  it('memory through a key of its own for those addresses', () => {
    expectOutOfReach(({ intruder, ends, own }) => {
      const { region, data } = makeMemory(ends[0], 64, 5);
      const before = Uint8Array.from(data);
      const range = { address: region.address, length: 64 };
      const rights = 1 << AccessFlag.localWrite;
      const made = new MemoryRegion(
        driverOf(intruder).management,
        intruder.protectionDomain.driver,
        range,
        rights,
      );
      const gather = [{ ...region.slice(), localKey: made.key }];
      const source = makeMemory(own[1], 64, 9).region.remote();
      own[0].queuePair.postSend({ opcode: Opcode.rdmaRead, gather, remote: source, wrId: 7 });
      expectToFail(own, CompletionStatus.localProtectionError);
      expect(data).toEqual(before);
    }, 'faults');
  });

  it('a key, to deregister it', () => {
    expectOutOfReach(({ intruder, owner }) => {
      const { localKey } = owner.protectionDomain.allocate(64);
      expectNoSuchObject(intruder, ManagementOpcode.deregisterMemory, localKey);
    });
  });
});
