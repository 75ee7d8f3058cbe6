import { describe, expect, it } from 'vitest';

import {
  CompletionOpcode,
  CompletionStatus,
  EventType,
  ManagementOpcode,
  ManagementStatus,
  Opcode,
  QualityOfServiceLevel,
  QueuePairState,
  Refusal,
  RegionType,
  UNDERLYING_FUNCTION_COMPLETIONS_DROPPED_OFFSET,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_OFFSET,
  UNDERLYING_FUNCTION_READS_REFUSED_OFFSET,
  UNDERLYING_FUNCTION_RESET_OFFSET,
  encode,
} from '../../lib/spec/index.ts';
import { Device, pageList } from '../helpers/device.ts';
import { FunctionHost } from './function_host.ts';
import { armRequest } from './host_completion_queue.ts';

const function1 = 1;
const vcb = 32; // the first of function 1 under the default division

/** Function 1 of a device, with a completion queue of 2^entriesLog2 entries on one page. */
function makeQueue(entriesLog2 = 4): {
  device: Device;
  host: FunctionHost;
  number: number;
  entry: (index: number) => ReturnType<Device['get']>;
} {
  const device = new Device();
  device.enable();
  const host = new FunctionHost(device, function1);
  const ring = device.allocate(64 << entriesLog2);
  const created = host.management.succeed(ManagementOpcode.createCompletionQueue, {}, [
    encode('create_completion_queue_input', {
      entries_log2: entriesLog2,
      pages: 1,
      head_address: device.address(device.allocate(8)),
    }),
    pageList(device, ring, 4096),
  ]);
  return {
    device,
    host,
    number: Number(created['output']),
    entry: (index) => device.get(ring + index * 64, 'completion_queue_entry', 64),
  };
}

describe('completions of an hca', () => {
  it('are written for signaled commands, and for those that fail or are flushed', () => {
    const { device, host, number, entry } = makeQueue();
    const queue = host.createQueuePair(QualityOfServiceLevel.low, number);
    const post = (fields: Parameters<typeof encode>[1]): void => {
      device.writeCommand(vcb, queue.prepare(16, fields));
      device.runUntilIdle();
    };
    post({ signaled: 1 });
    post({});
    post({ opcode: Opcode.rdmaWrite, signaled: 1 });
    post({ opcode: 0xee });
    post({ opcode: Opcode.rdmaRead });
    const completion = { queue_pair_number: queue.number, work_queue: 0, phase: 1 };
    const { success, localQueuePairOperationError, workRequestFlushedError } = CompletionStatus;
    expect([0, 1, 2, 3].map(entry)).toMatchObject([
      { ...completion, sequence_number: 0, status: success, opcode: CompletionOpcode.send },
      { ...completion, sequence_number: 2, status: success, opcode: CompletionOpcode.rdmaWrite },
      { ...completion, sequence_number: 3, status: localQueuePairOperationError },
      {
        ...completion,
        sequence_number: 4,
        status: workRequestFlushedError,
        opcode: CompletionOpcode.rdmaRead,
      },
    ]);
    expect(entry(4)['phase']).toBe(0);
    expect(device.port.verify()).toBeNull();
  });

  it('raise the event for which the register page armed the queue', () => {
    const { device, host, number } = makeQueue();
    const queue = host.createQueuePair(QualityOfServiceLevel.low, number);
    const arm = (completionQueue: number, sequence: number): void =>
      device.write64(
        RegionType.underlyingFunction,
        function1,
        UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_OFFSET,
        armRequest(completionQueue, sequence, false, 0),
      );
    arm(number, 0);
    expect(host.takeEvents()).toEqual([]);
    device.writeCommand(vcb, queue.prepare(0, { signaled: 1 }));
    device.runUntilIdle();
    expect(host.takeEvents()).toMatchObject([{ type: EventType.completion, object: number, reason: 0 }]);
    const refused = (): bigint =>
      device.read64(RegionType.underlyingFunction, function1, UNDERLYING_FUNCTION_READS_REFUSED_OFFSET);
    expect(refused()).toBe(0n);
    arm(number + 1, 1);
    expect(refused()).toBe(1n);
  });

  it('are no longer written after a reset of their function', () => {
    const { device, host, number, entry } = makeQueue();
    host.createQueuePair(QualityOfServiceLevel.low, number);
    device.write32(RegionType.underlyingFunction, function1, UNDERLYING_FUNCTION_RESET_OFFSET, 1);
    const again = new FunctionHost(device, function1);
    const destroy = again.management.execute(ManagementOpcode.destroyCompletionQueue, {
      input_modifier: number,
    });
    expect(destroy['status']).toBe(ManagementStatus.badObject);
    expect(entry(0)['phase']).toBe(0);
    expect(device.port.verify()).toBeNull();
  });

  it('without room fail their queue pairs, and are counted', () => {
    const { device, host, number } = makeQueue(1);
    const queues = [0, 1].map(() => host.createQueuePair(QualityOfServiceLevel.low, number));
    for (let round = 0; round < 3; ++round) {
      device.writeCommand(vcb, queues[0]!.prepare(0, { signaled: 1 }));
      device.runUntilIdle();
    }
    expect(host.takeEvents()).toMatchObject([
      { type: EventType.completionQueueError, object: number },
      ...queues.map((queue) => ({
        type: EventType.queuePairFatal,
        object: queue.number,
        reason: Refusal.completionQueueFailed,
      })),
    ]);
    for (const queue of queues) {
      const { outputOffset } = host.management.succeed(ManagementOpcode.queryQueuePair, {
        input_modifier: queue.number,
      });
      expect(device.get(outputOffset, 'queue_pair_attributes', 128)['state']).toBe(QueuePairState.error);
      queue.destroy();
    }
    expect(
      device.read64(RegionType.underlyingFunction, function1, UNDERLYING_FUNCTION_COMPLETIONS_DROPPED_OFFSET),
    ).toBe(1n);
    host.management.succeed(ManagementOpcode.destroyCompletionQueue, { input_modifier: number });
    expect(device.port.verify()).toBeNull();
  });
});
