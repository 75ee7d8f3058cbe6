// Faults in the middle of a train of packets or of messages: on boards that work in trains, with their own
// thread or by units of work, and on boards whose unit of work is one data unit in one block.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { Access, Completion, CompletionStatus, EventType, Opcode, PathMtu } from '../../lib/index.ts';
import { backends, settle } from '../helpers/backends.ts';
import { makeMemory, makePair, type ConnectOptions, type End } from '../helpers/connected.ts';
import { dataUnitsOf } from '../helpers/data_units.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const { remoteAccessError, remoteOperationError, localProtectionError, success, workRequestFlushedError } =
  CompletionStatus;
const mtu = 1024;
const train = 16;
/** Packets or messages of a train before the failing one. */
const before = 4;
const short = 64;
const steps = 100_000;
/** Stepped boards skip the time; the threads of others may wait for a processor. */
const timeouts = { stepped: 8, others: 16 };
const wrIds = Array.from({ length: train }, (_, index) => index);
const rest = wrIds.slice(before + 1);

const places = [
  ...backends.map((backend) => ({ name: backend.name, backend, inUnits: false })),
  { name: `${stepped.name}, data unit by data unit`, backend: stepped, inUnits: true },
];

describe.each(places)('a fault in the middle of a train, on two boards $name', ({ backend, inUnits }) => {
  function makeEnds(): [End, End] {
    const fabric = randomUUID();
    const [here, there] = [makeVerbs(backend, { fabric }), makeVerbs(backend, { fabric })];
    const timeout = backend === stepped ? timeouts.stepped : timeouts.others;
    const options: ConnectOptions = { pathMtu: PathMtu.mtu1024, timeout };
    return makePair(here, options, there);
  }

  /** Expects exactly this number of completions. */
  function complete({ verbs }: End, count: number): [number, CompletionStatus][] {
    const taken: [number, CompletionStatus][] = [];
    const poll = (): boolean => {
      const completion = new Completion();
      while (verbs.completionQueue.poll([completion]) !== 0) taken.push([completion.wrId, completion.status]);
      if (taken.length < count && backend === stepped) verbs.board.advanceTime(4096 * 2 ** 9);
      return taken.length >= count;
    };
    if (inUnits) while (verbs.board.step(steps) === steps);
    settle(verbs.board, backend, poll);
    return taken;
  }

  /** One board after the other, because packets may be in flight to the other one. */
  function expectRest(ends: readonly End[]): void {
    for (let round = 0; round < 2; round++)
      for (const { verbs } of ends)
        settle(verbs.board, backend, () => !verbs.context.driver.device.board.advance());
    for (const { verbs } of ends) expect(verbs.board.verify(true)).toBeUndefined();
  }

  it('a WRITE with an invalid key fails, earlier ones complete, later ones do not', () => {
    const [from, to] = makeEnds();
    const near = makeMemory(from, short * train, 1);
    const far = makeMemory(to, short * train, 2);
    const refused = to.verbs.protectionDomain.allocate(short, Access.localWrite);
    const expected = Uint8Array.from(far.data);
    expected.set(near.data.subarray(0, short * before));
    from.queuePair.postSend(
      wrIds.map((wrId) => ({
        opcode: Opcode.rdmaWrite,
        gather: [near.region.slice(short * wrId, short)],
        remote: wrId === before ? refused.remote() : far.region.remote().slice(short * wrId, short),
        wrId,
        signaled: true,
      })),
    );
    expect(complete(from, train)).toEqual([
      ...wrIds.slice(0, before).map((wrId) => [wrId, success]),
      [before, remoteAccessError],
      ...rest.map((wrId) => [wrId, workRequestFlushedError]),
    ]);
    expect(Buffer.compare(far.data, expected)).toBe(0);
    expect([...refused.bytes].every((byte) => byte === 0)).toBe(true);
    expectRest([from, to]);
  });

  it.each([
    ['written', 1, remoteOperationError],
    ['read', 0, localProtectionError],
  ] as const)('a packet whose memory cannot be %s ends its message', (_, which, status) => {
    const [from, to] = makeEnds();
    const near = makeMemory(from, mtu * train, 1);
    const far = makeMemory(to, mtu * train, 2);
    const behind = Uint8Array.from(far.data.subarray(mtu * before));
    const faulty = [near, far][which]!.region.address + BigInt(mtu * before);
    const faultyBoard = [from, to][which]!.verbs;
    faultyBoard.board.inject({ kind: 'fault_dma', begin: faulty, end: faulty + BigInt(mtu), count: 0 });
    from.queuePair.postSend([
      {
        opcode: Opcode.rdmaWrite,
        gather: [near.region.slice()],
        remote: far.region.remote(),
        wrId: 1,
        signaled: true,
      },
      { opcode: Opcode.rdmaWrite, gather: [near.region.slice()], remote: far.region.remote(), wrId: 2 },
    ]);
    expect(complete(from, 2)).toEqual([
      [1, status],
      [2, workRequestFlushedError],
    ]);
    const done = far.data.subarray(0, mtu * before);
    // Packets sent before a failure of the sender may still be on their way.
    settle(to.verbs.board, backend, () => Buffer.compare(done, near.data.subarray(0, mtu * before)) === 0);
    expect(Buffer.compare(far.data.subarray(mtu * before), behind)).toBe(0);
    expect(faultyBoard.context.pollEvent()).toMatchObject({ type: EventType.dmaFault, detail: faulty });
    expectRest([from, to]);
  });

  it.each(['loss', 'duplication', 'reordering', 'corruption'] as const)(
    '%s of a packet is repaired',
    (how) => {
      for (const nth of [1, 7, train - 1, train]) {
        const [from, to] = makeEnds();
        const near = makeMemory(from, mtu * 2 * train, 1);
        const far = makeMemory(to, mtu * 2 * train, 2);
        const small = makeMemory(to, short * train, 3);
        const rule = to.verbs.board.impair({ lane: 'requests', nth, count: 1, [how]: 1 });
        from.queuePair.postSend([
          { opcode: Opcode.rdmaWrite, gather: [near.region.slice()], remote: far.region.remote(), wrId: 99 },
          ...wrIds.map((wrId) => ({
            opcode: Opcode.rdmaWrite,
            gather: [near.region.slice(short * wrId, short)],
            remote: small.region.remote().slice(short * wrId, short),
            wrId,
            signaled: true,
          })),
        ]);
        expect(complete(from, train)).toEqual(wrIds.map((wrId) => [wrId, success]));
        expect(to.verbs.board.impaired(rule).packets, `packet ${nth}`).toBe(1);
        expect(Buffer.compare(far.data, near.data)).toBe(0);
        expect(Buffer.compare(small.data, near.data.subarray(0, short * train))).toBe(0);
      }
    },
  );

  it('every data unit is counted once', () => {
    const [from, to] = makeEnds();
    const near = makeMemory(from, mtu * 2 * train, 1);
    const far = makeMemory(to, mtu * 2 * train, 2);
    const counted = [from, to].map(({ verbs }) => dataUnitsOf(verbs.context.driver.device));
    from.queuePair.postSend([
      { opcode: Opcode.rdmaWrite, gather: [near.region.slice()], remote: far.region.remote(), wrId: 99 },
      ...wrIds.map((wrId) => ({
        opcode: Opcode.rdmaWrite,
        gather: [near.region.slice(0, short)],
        remote: far.region.remote().slice(0, short),
        wrId,
        signaled: true,
      })),
    ]);
    expect(complete(from, train)).toHaveLength(train);
    expectRest([from, to]);
    const [sent, received] = [from, to].map(({ verbs }, index) => {
      const now = dataUnitsOf(verbs.context.driver.device);
      return (block: string): number => now.get(block)! - counted[index]!.get(block)!;
    });
    const messages = train + 1;
    const packets = 3 * train;
    expect(sent!('dma'), 'dma').toBe(packets);
    // A packet; the end of its command, and its message.
    expect(sent!('packet_builder'), 'packet_builder').toBe(packets + 2 * messages);
    expect(sent!('completion'), 'completion').toBe(messages);
    for (const block of ['packet_receiver', 'receive', 'receive_queue_entry_handler'])
      expect(received!(block), block).toBe(packets);
  });
});
