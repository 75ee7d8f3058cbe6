import { describe, expect, it } from 'vitest';

import { Opcode, type ReceiveRequest, type SendRequest } from '../../lib/index.ts';
import { makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { makeQueuePair, makeVerbs } from '../helpers/make_verbs.ts';

const size = 64;
const capabilities = { maxSendWorkRequests: 4, maxReceiveWorkRequests: 4 };

/** A pair, and memory of both; queues of four slots, which any loop goes around. */
function bench(): { sender: End; receiver: End; send: SendRequest; receive: ReceiveRequest; at: Places } {
  const [sender, receiver] = makePair(makeVerbs(), { capabilities });
  const source = makeMemory(sender, 4096);
  const target = makeMemory(receiver, 4096);
  return {
    sender,
    receiver,
    send: { wrId: 5, opcode: Opcode.send, gather: [source.region.slice(0, size)], signaled: true },
    receive: { wrId: 6, scatter: [target.region.slice(0, size)] },
    at: { source, target },
  };
}

type Places = Record<'source' | 'target', ReturnType<typeof makeMemory>>;

describe('a prepared work request', () => {
  it.each([false, true])(
    'carries the data of each time, around the queues, doorbell checksum: %s',
    (checksum) => {
      const { sender, receiver, send, receive, at } = bench();
      const prepared = sender.queuePair.prepareSend({ ...send, checksum });
      const preparedReceive = receiver.queuePair.prepareReceive(receive);
      for (let time = 0; time < 11; time++) {
        at.source.data[3] = time;
        preparedReceive.post();
        prepared.post(100 + time);
        const completions = settle(sender);
        expect(completions.map(({ status }) => status)).toEqual([0, 0]);
        expect(new Set(completions.map(({ wrId }) => wrId))).toEqual(new Set([6, 100 + time]));
        expect(at.target.data.slice(0, size)).toEqual(at.source.data.slice(0, size));
      }
    },
  );

  it('takes turns with others in the same slots, with one that is refused half encoded too', () => {
    const { sender, receiver, send, receive, at } = bench();
    const other = at.source.region.slice(1024, size);
    const prepared = sender.queuePair.prepareSend(send);
    const preparedReceive = receiver.queuePair.prepareReceive(receive);
    for (let time = 0; time < 24; time++) {
      const isOther = time % 3 === 1;
      if (time % 4 === 2) {
        const wrong = { ...other, length: -1 };
        expect(() => sender.queuePair.postSend({ ...send, gather: [other, wrong] })).toThrow(RangeError);
        expect(() => receiver.queuePair.postReceive({ scatter: [other, wrong] })).toThrow(RangeError);
      }
      at.target.data.fill(0);
      if (time % 5 === 0) receiver.queuePair.postReceive({ scatter: [at.target.region.slice(0, size)] });
      else preparedReceive.post();
      if (isOther) sender.queuePair.postSend({ ...send, gather: [other] });
      else prepared.post();
      expect(settle(sender).map(({ status }) => status)).toEqual([0, 0]);
      const from = isOther ? 1024 : 0;
      expect(at.target.data.slice(0, size)).toEqual(at.source.data.slice(from, from + size));
    }
  });

  it('of a shared receive queue keeps its wrId and place, around the queue and after it grew', () => {
    const verbs = makeVerbs();
    const queue = verbs.protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 4 });
    const [sender, receiver] = makePair(verbs, { capabilities, sharedReceiveQueue: queue });
    const { region, data } = makeMemory(receiver, 4096);
    const prepared = [0, 1].map((number) =>
      queue.prepareReceive({ wrId: number, scatter: [region.slice(number * size, size)] }),
    );
    const send = sender.queuePair.prepareSend({
      wrId: 9,
      opcode: Opcode.send,
      inlineData: Uint8Array.of(7, 8, 9),
      signaled: true,
    });
    for (let time = 0; time < 9; time++) {
      if (time === 5) queue.modify({ maxWorkRequests: 16 });
      const number = time % 2;
      data.fill(0);
      prepared[number]!.post();
      send.post();
      const received = settle(sender).filter(({ workQueue }) => workQueue === 1);
      expect(received.map(({ wrId, byteLength }) => [wrId, byteLength])).toEqual([[number, 3]]);
      expect([...data.subarray(number * size, number * size + 4)]).toEqual([7, 8, 9, 0]);
    }
  });

  it('is checked when it is prepared', () => {
    const { sender, receiver, send } = bench();
    const wrong = { ...send.gather![0]!, length: -1 };
    expect(() => sender.queuePair.prepareSend({ ...send, gather: [wrong] })).toThrow('gather[0].length');
    expect(() => sender.queuePair.prepareSend({ ...send, wrId: -1 })).toThrow('wrId');
    expect(() => sender.queuePair.prepareSend({ ...send, wr_id: 1 } as SendRequest)).toThrow('use wrId');
    expect(() => sender.queuePair.prepareSend({ opcode: Opcode.rdmaWrite })).toThrow('remote');
    expect(() => receiver.queuePair.prepareReceive({ scatter: [wrong] })).toThrow('scatter[0].length');
    expect(() => receiver.queuePair.prepareReceive({ wrId: 0.5 })).toThrow('wrId');
  });

  it('is refused where an ordinary one is', () => {
    const { sender, receiver, send, receive } = bench();
    const prepared = sender.queuePair.prepareSend({ ...send, signaled: false });
    const preparedReceive = receiver.queuePair.prepareReceive(receive);
    expect(() => prepared.post(-1)).toThrow('wrId must be');
    for (let count = 0; count < 4; count++) preparedReceive.post();
    expect(() => preparedReceive.post()).toThrow('the receive queue is full');
    for (let count = 0; count < 4; count++) prepared.post();
    expect(() => prepared.post()).toThrow('none of them is signaled');
    sender.queuePair.close();
    expect(() => prepared.post()).toThrow(expect.objectContaining({ code: 'EBADF' }));
    const reset = makeQueuePair(sender.verbs);
    expect(() => reset.prepareSend(send).post()).toThrow('is in QueuePairState.reset');
    expect(() => reset.prepareReceive(receive).post()).toThrow('is in QueuePairState.reset');
  });
});
