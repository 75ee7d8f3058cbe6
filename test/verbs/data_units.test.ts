import { expect, it } from 'vitest';

import { Opcode } from '../../lib/index.ts';
import { dataUnitsOf } from '../helpers/data_units.ts';
import { makeMemory, makePair, settle } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

it('each block counts the data units that leave it', () => {
  const verbs = makeVerbs(stepped, { acknowledgeCoalescing: false });
  const [sender, receiver] = makePair(verbs);
  const { region: from } = makeMemory(sender, 64, 1);
  const { region: to } = makeMemory(receiver, 64, 2);
  const { device } = verbs.context.driver;
  const before = dataUnitsOf(device);
  receiver.queuePair.postReceive({ wrId: 1, scatter: [to.slice()] });
  sender.queuePair.postSend({ opcode: Opcode.send, wrId: 2, signaled: true, gather: [from.slice()] });
  expect(settle(sender)).toHaveLength(2);
  const counted = [...dataUnitsOf(device)].map(([block, count]) => [block, count - before.get(block)!]);
  expect(Object.fromEntries(counted)).toEqual({
    collect_buffer: 1, // the kick
    virtual_kick: 1,
    queue_pair_fetch: 1,
    send_queue_scheduler: 0, // no command came from the send queue
    dma: 1,
    packet_builder: 3, // the packet, the message, the credits and PCB that the command returns
    completion: 1, // the completion credit that the message returns
    port: 4, // request and acknowledgement, each out and in
    packet_receiver: 2,
    receive: 1,
    receive_queue_entry_handler: 1,
    dma_validation: 1,
    response: 1,
    completion_queue: 2,
  });
});
