import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { KickRecordType } from '../../lib/spec/index.ts';
import { Device } from '../helpers/device.ts';
import { FunctionHost, type SendQueue } from './function_host.ts';
import { Random } from '../helpers/random.mjs';

/** A send queue as a test tracks it: the number of commands posted, and the number sent. */
interface Posting {
  queue: SendQueue;
  posted: number;
  sent: number[];
}

describe('hca', () => {
  it('sends all commands in order with the smallest resources of a board, while idle blocks sleep', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = new Random(seed);
        const device = new Device({
          underlyingFunctions: 2,
          physicalCollectBuffers: 1 + random.below(3),
          dedicatedPhysicalCollectBuffers: 1,
          managementPhysicalCollectBuffers: 0,
          transmitVirtualLanes: 1 + random.below(2),
          executionCreditsPerLane: 1,
          completionCreditsPerLane: 1,
          sharedExecutionCredits: 0,
          sharedCompletionCredits: 0,
          schedulerBatch: 1 + random.below(2),
          queuePairContextsCached: 2,
        });
        device.enable();
        const hosts = [0, 1].map((underlyingFunction) => new FunctionHost(device, underlyingFunction));
        const postings = hosts.flatMap((host) =>
          [0, 1].map((level): Posting => ({ queue: host.createQueuePair(level), posted: 0, sent: [] })),
        );
        const read = (): void => {
          for (const host of hosts)
            for (const record of host.takeKickRecords())
              if (record.type === KickRecordType.sent)
                postings
                  .find(({ queue }) => queue.number === record.queue_pair_number)!
                  .sent.push(record.send_queue_sequence_number);
        };
        for (let action = 0; action < 200; action++) {
          const posting = random.pick(postings);
          if (random.once(3) && posting.posted - posting.sent.length < 16) {
            const command = posting.queue.prepare(random.below(100));
            posting.posted++;
            while (!device.port.canAcceptWrite()) device.port.step();
            const buffer = posting.queue.host.underlyingFunction * 128 + random.below(8);
            device.writeCommand(buffer, command);
          } else if (random.once(8)) device.runUntilIdle();
          else device.port.step();
          read();
        }
        device.runUntilIdle();
        read();
        for (const { posted, sent } of postings)
          expect(sent).toEqual(Array.from({ length: posted }, (_, number) => number));
        expect(device.port.verify()).toBeNull();
      }),
      { numRuns: 30 },
    );
  });
});
