import { describe, expect, it } from 'vitest';

import { CompletionOpcode, CompletionStatus, Opcode } from '../../lib/index.ts';
import { makeMemory, makePair, settle } from './connected.ts';
import { makeVerbs } from './make_verbs.ts';

describe('a reliable connection over the port of one board', () => {
  it('sends into the receive queue of the peer', () => {
    const [from, to] = makePair(makeVerbs());
    const source = makeMemory(from, 3000, 1);
    const target = makeMemory(to, 4096, 2);
    to.queuePair.postReceive({ wrId: 7, scatter: [target.region.slice()] });
    from.queuePair.postSend({
      opcode: Opcode.send,
      wrId: 8,
      signaled: true,
      gather: [source.region.slice()],
    });
    const completions = settle(from);
    expect(completions).toMatchObject([
      {
        queuePairNumber: to.queuePair.number,
        workQueue: 1,
        opcode: CompletionOpcode.receive,
        status: CompletionStatus.success,
        byteLength: 3000,
      },
      {
        queuePairNumber: from.queuePair.number,
        workQueue: 0,
        opcode: CompletionOpcode.send,
        status: CompletionStatus.success,
      },
    ]);
    expect(completions.map(({ wrId }) => wrId)).toEqual([7, 8]);
    expect(target.data.subarray(0, 3000)).toEqual(source.data);
  });
});
