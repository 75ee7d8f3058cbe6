// A board caches facts of a connection and of an access for the next packet: it drops them when they are no
// longer true.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';

import { CompletionStatus, Opcode, QueuePairState, type MemoryRegion } from '../../lib/index.ts';
import { connect, makeEnd, makeMemory, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const bytes = 64;

const makeEnds = (count: number): End[] => {
  const fabric = `kept state ${randomUUID()}`;
  return Array.from({ length: count }, () => makeEnd(makeVerbs(stepped, { fabric })));
};

function write(from: End, source: MemoryRegion, target: ReturnType<MemoryRegion['remote']>): void {
  from.queuePair.postSend({
    opcode: Opcode.rdmaWrite,
    gather: [source.slice()],
    remote: target,
    signaled: true,
  });
}

it('a region that a peer has written is refused once it is closed', () => {
  const [from, to] = makeEnds(2) as [End, End];
  connect(from, to);
  connect(to, from);
  const [source, target] = [from, to].map((end) => makeMemory(end, bytes));
  const remote = target!.region.remote();
  write(from, source!.region, remote);
  expect(settle(from)).toMatchObject([{ status: CompletionStatus.success }]);
  target!.region.close();
  write(from, source!.region, remote);
  expect(settle(from)).toMatchObject([{ status: CompletionStatus.remoteAccessError }]);
});

it('a region that has received a message receives none once it is closed', () => {
  const [from, to] = makeEnds(2) as [End, End];
  connect(from, to);
  connect(to, from);
  const [source, target] = [from, to].map((end) => makeMemory(end, bytes));
  for (let count = 0; count < 2; count += 1) to.queuePair.postReceive({ scatter: [target!.region.slice()] });
  const send = (): void =>
    from.queuePair.postSend({ opcode: Opcode.send, gather: [source!.region.slice()], signaled: true });
  send();
  expect(settle(from)).toMatchObject([{ status: CompletionStatus.success }]);
  expect(settle(to)).toMatchObject([{ status: CompletionStatus.success }]);
  target!.region.close();
  send();
  expect(settle(from)).toMatchObject([{ status: CompletionStatus.remoteOperationError }]);
  expect(settle(to)).toMatchObject([{ status: CompletionStatus.localProtectionError }]);
  // The key refuses it, and not a missing mapping.
  expect(to.verbs.board.takeDmaFaults()).toEqual([]);
});

it('a queue pair that is reconnected sends to its new peer', () => {
  const [from, ...peers] = makeEnds(3) as [End, End, End];
  const [source, ...targets] = [from, ...peers].map((end) => makeMemory(end, bytes));
  for (const [index, to] of peers.entries()) {
    from.queuePair.modify({ state: QueuePairState.reset });
    connect(from, to);
    connect(to, from);
    source!.data.fill(index + 1);
    write(from, source!.region, targets[index]!.region.remote());
    expect(settle(from)).toMatchObject([{ status: CompletionStatus.success }]);
    expect(targets[index]!.data.every((byte) => byte === index + 1)).toBe(true);
  }
});
