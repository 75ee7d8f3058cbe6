import { describe, expect, it } from 'vitest';

import { CompletionStatus, Opcode } from '../../lib/index.ts';
import { makeMemory, makePair, settle } from '../helpers/connected.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

const { success, localProtectionError, workRequestFlushedError } = CompletionStatus;

// A work request that fails on its own fails after those before it, whatever these have to wait for.
describe('a SEND whose L_Key is wrong', () => {
  const setUp = () => {
    const [from, to] = makePair(makeVerbs());
    const here = makeMemory(from, 4096, 1);
    const there = makeMemory(to, 4096, 2);
    const wrong = { opcode: Opcode.send, wrId: 2, gather: [{ ...here.region.slice(), localKey: 0x5555 }] };
    const behind = { opcode: Opcode.send, wrId: 3 };
    return { from, to, here, there, wrong, behind };
  };

  it('fails behind a READ before it, by its own status', () => {
    const { from, here, there, wrong, behind } = setUp();
    const read = {
      opcode: Opcode.rdmaRead,
      wrId: 1,
      gather: [here.region.slice()],
      remote: there.region.remote(),
    };
    from.queuePair.postSend([{ ...read, signaled: true }, wrong, behind]);
    expect(settle(from).map(({ wrId, status }) => [wrId, status])).toEqual([
      [1, success],
      [2, localProtectionError],
      [3, workRequestFlushedError],
    ]);
    expect(here.data).toEqual(there.data);
  });

  it('fails behind a retried SEND, by its own status', () => {
    const { from, to, wrong, behind } = setUp();
    from.queuePair.postSend([{ opcode: Opcode.send, wrId: 1, signaled: true }, wrong, behind]);
    from.verbs.board.step(2000);
    to.queuePair.postReceive({ wrId: 9 });
    from.verbs.board.advanceTime(10_000_000); // the peer asked for 0.64 ms
    expect(settle(from).map(({ wrId, status }) => [wrId, status])).toEqual([
      [9, success],
      [1, success],
      [2, localProtectionError],
      [3, workRequestFlushedError],
    ]);
  });
});
