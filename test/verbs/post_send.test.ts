import { describe, expect, it } from 'vitest';

import { Completion, CompletionStatus, Opcode, QueuePairState, RemoteMemory } from '../../lib/index.ts';
import type { SendRequest } from '../../lib/index.ts';
import { makeFailedQueuePair, makeQueuePair, makeVerbs } from '../helpers/make_verbs.ts';

const remote = new RemoteMemory({ address: 0x1000, key: 1, length: 64 });
const place = { addressLow: 0, addressHigh: 0, length: 8, localKey: 1 };

describe('postSend', () => {
  it.each([
    ['opcode', { opcode: 200 as Opcode }],
    ['opcode', { opcode: 11 as Opcode }],
    ['invalidateKey', { opcode: Opcode.sendWithInvalidate }],
    ['immediateData', { opcode: Opcode.sendWithImmediate }],
    ['remote', { opcode: Opcode.rdmaWrite }],
    ['immediateData', { opcode: Opcode.rdmaWriteWithImmediate, remote }],
    ['remote', { opcode: Opcode.rdmaRead, gather: [place] }],
    ['inlineData', { opcode: Opcode.rdmaRead, remote, inlineData: new Uint8Array(8) }],
    ['remote', { opcode: Opcode.atomicFetchAndAdd, gather: [place], compareAdd: 1n }],
    ['gather', { opcode: Opcode.atomicFetchAndAdd, remote, compareAdd: 1n }],
    ['gather', { opcode: Opcode.atomicFetchAndAdd, remote, compareAdd: 1n, gather: [place, place] }],
    [
      'gather[0].length',
      { opcode: Opcode.atomicFetchAndAdd, remote, compareAdd: 1n, gather: [{ ...place, length: 4 }] },
    ],
    ['compareAdd', { opcode: Opcode.atomicFetchAndAdd, remote, gather: [place] }],
    ['compareAdd', { opcode: Opcode.atomicCompareAndSwap, remote, gather: [place], swap: 1n }],
    ['swap', { opcode: Opcode.atomicCompareAndSwap, remote, gather: [place], compareAdd: 1n }],
    ['inlineData.length', { opcode: Opcode.send, inlineData: new Uint8Array(65) }],
    ['gather.length', { opcode: Opcode.send, gather: [place, place, place, place, place] }],
  ] as readonly (readonly [string, SendRequest])[])('refuses a wrong %s: %o', (attribute, request) => {
    const queuePair = makeFailedQueuePair(makeVerbs());
    expect(() => queuePair.postSend(request)).toThrow(
      expect.objectContaining({ code: 'EINVAL', verb: 'postSend', attribute }),
    );
    expect(() => queuePair.postSend([{ opcode: Opcode.send }, request, { opcode: Opcode.send }])).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: `requests[1].${attribute}`, posted: 1 }),
    );
    expect(queuePair.driver.sendQueue.outstanding).toBe(1);
  });

  it('refuses work requests before RTS', () => {
    const queuePair = makeQueuePair(makeVerbs());
    expect(() => queuePair.postSend({ opcode: Opcode.send })).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'state', expected: 'QueuePairState.readyToSend' }),
    );
    queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: 0 });
    expect(() => queuePair.postSend({ opcode: Opcode.send })).toThrow(/is in QueuePairState.init/);
  });

  it('reports a full queue, and how many of a batch it has posted', () => {
    const verbs = makeVerbs();
    const queuePair = makeQueuePair(verbs, { maxSendWorkRequests: 4 });
    queuePair.modify({ state: QueuePairState.error });
    const requests = Array.from({ length: 6 }, (_, wrId) => ({ opcode: Opcode.send, wrId }));
    expect(() => queuePair.postSend(requests)).toThrow(
      expect.objectContaining({ code: 'ENOMEM', verb: 'postSend', posted: 4 }),
    );
    expect(() => queuePair.postSend(requests[0]!)).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
    verbs.board.runUntilIdle();
    const completions = Array.from({ length: 6 }, () => new Completion());
    expect(verbs.completionQueue.poll(completions)).toBe(4);
    expect(completions.slice(0, 4).map(({ wrId }) => wrId)).toEqual([0, 1, 2, 3]);
    expect(completions[0]!.status).toBe(CompletionStatus.workRequestFlushedError);
    queuePair.postSend(requests.slice(0, 4));
  });

  it('restarts after a reset, without earlier completions', () => {
    const verbs = makeVerbs();
    const queuePair = makeFailedQueuePair(verbs);
    queuePair.postSend([1, 2, 3].map((wrId) => ({ opcode: Opcode.send, wrId })));
    verbs.board.runUntilIdle();
    queuePair.modify({ state: QueuePairState.reset });
    queuePair.modify({ state: QueuePairState.error });
    queuePair.postSend({ opcode: Opcode.send, wrId: 4 });
    verbs.board.runUntilIdle();
    const completions = Array.from({ length: 4 }, () => new Completion());
    expect(verbs.completionQueue.poll(completions)).toBe(1);
    expect(completions[0]!.wrId).toBe(4);
  });

  it('can use the whole completion queue after completions of a former queue pair were skipped', () => {
    const verbs = makeVerbs();
    const { board, completionQueue } = verbs;
    const requests = Array.from({ length: completionQueue.capacity }, () => ({ opcode: Opcode.send }));
    const completions = requests.map(() => new Completion());
    const former = makeFailedQueuePair(verbs);
    former.postSend(requests);
    board.runUntilIdle();
    former.close();
    expect(completionQueue.poll(completions)).toBe(0);
    makeFailedQueuePair(verbs).postSend(requests);
    board.runUntilIdle();
    expect(completionQueue.poll(completions)).toBe(requests.length);
  });

  it('keeps no reference to its arguments', () => {
    const verbs = makeVerbs();
    const queuePair = makeFailedQueuePair(verbs);
    const request = { opcode: Opcode.send as Opcode, wrId: 5, inlineData: Uint8Array.of(1, 2, 3) };
    queuePair.postSend(request);
    request.wrId = 6;
    request.inlineData.fill(0);
    verbs.board.runUntilIdle();
    const completion = new Completion();
    verbs.completionQueue.poll([completion]);
    expect(completion.wrId).toBe(5);
  });
});
