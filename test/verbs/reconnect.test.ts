import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { CompletionStatus, Opcode, QueuePairState, type SendRequest } from '../../lib/index.ts';
import { connect, makeEnd, makeMemory, settle, type ConnectOptions, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const { success } = CompletionStatus;
const bytes = 2000; // two packets
/** Ticks that the packets of the first connection are in flight. */
const late = 1_000_000;
const rounds = 4;

/** Two ends on separate boards, and the memory of each. */
class Scene {
  ends: readonly [End, End];
  readonly memories: readonly ReturnType<typeof makeMemory>[];
  private readonly type: 'RC' | 'UC';

  constructor(type: 'RC' | 'UC') {
    this.type = type;
    const fabric = `reconnect ${randomUUID()}`;
    this.ends = [0, 1].map(() => makeEnd(makeVerbs(stepped, { fabric }), { type })) as [End, End];
    this.memories = this.ends.map((end) => makeMemory(end, bytes));
  }

  connect(options: ConnectOptions): void {
    const [one, other] = this.ends;
    connect(one, other, { ...options, type: this.type });
    connect(other, one, { ...options, type: this.type });
  }

  /** Resets its queue pairs, or closes them and creates others. */
  disconnect(isNew: boolean): void {
    for (const { queuePair } of this.ends) {
      if (isNew) queuePair.close();
      else queuePair.modify({ state: QueuePairState.reset });
    }
    if (isNew) this.ends = this.ends.map(({ verbs }) => makeEnd(verbs, { type: this.type })) as [End, End];
  }

  postReceive(): void {
    this.ends[1].queuePair.postReceive({ scatter: [this.memories[1]!.region.slice()] });
  }

  post(opcode: Opcode): void {
    const [here, there] = this.memories.map(({ region }) => region);
    const isAtomic = opcode === Opcode.atomicFetchAndAdd;
    const request: SendRequest = {
      opcode,
      gather: [isAtomic ? here!.slice(0, 8) : here!.slice()],
      remote: there!.remote(),
      compareAdd: 1n,
      signaled: true,
    };
    this.ends[0].queuePair.postSend(request);
  }

  /** A completed message whose bytes are all `byte` and have all arrived. */
  expectWhole(opcode: Opcode, byte: number): void {
    const [from, to] = opcode === Opcode.rdmaRead ? [1, 0] : [0, 1];
    this.memories[from]!.data.fill(byte);
    if (opcode === Opcode.send) this.postReceive();
    this.post(opcode);
    expect(settle(this.ends[0])).toMatchObject([{ status: success }]);
    expect(this.memories[to]!.data.every((found) => found === byte)).toBe(true);
    if (opcode === Opcode.send) expect(settle(this.ends[1])).toMatchObject([{ status: success }]);
  }
}

// A message of UC may begin with any PSN: a queue pair that is reset takes late ones (InfiniBand volume 1, 9.8.2), a new one does not.
describe.each([
  ['the same queue pairs of RC', 'RC', false, [Opcode.send, Opcode.rdmaWrite, Opcode.rdmaRead]],
  ['new queue pairs of RC', 'RC', true, [Opcode.send, Opcode.rdmaWrite, Opcode.rdmaRead]],
  ['new queue pairs of UC', 'UC', true, [Opcode.send, Opcode.rdmaWrite]],
] as const)('a second connection of %s', (_, type, isNew, opcodes) => {
  it.each(['requests', 'responses'] as const)('is not harmed by late %s of the first', (lane) => {
    const scene = new Scene(type);
    const { memories } = scene;
    const { board } = scene.ends[0].verbs;
    scene.connect({ timeout: 0 });
    const delays = scene.ends.map(({ verbs }) => verbs.board.impair({ delay: late, lane }));
    for (let count = 0; count < 3; count++) scene.postReceive();
    for (const opcode of [...opcodes, Opcode.send]) scene.post(opcode);
    if (type === 'RC') scene.post(Opcode.atomicFetchAndAdd);
    board.runUntilIdle();
    const delayed = (): number =>
      scene.ends.reduce((sum, { verbs }, index) => sum + verbs.board.impaired(delays[index]!).packets, 0);
    expect(delayed() > 0).toBe(type === 'RC' || lane === 'requests');
    scene.disconnect(isNew);
    const { ends } = scene;
    for (const [index, { verbs }] of ends.entries()) {
      verbs.board.impair({}); // new packets now overtake those in flight
      verbs.board.clearImpairments(delays[index]);
    }
    scene.connect({ timeout: 0, sendPsn: 0x80_0000, receivePsn: 0x80_0000 });
    for (let round = 0; round < rounds; round++) {
      // Half a message of the second connection has arrived before the late packets.
      if (round === rounds / 2) {
        memories[0]!.data.fill(99);
        scene.postReceive();
        scene.post(Opcode.send);
        board.step(25);
        board.advanceTime(late);
        expect(settle(ends[0])).toMatchObject([{ status: success }]);
        expect(settle(ends[1])).toMatchObject([{ status: success, byteLength: bytes }]);
        expect(memories[1]!.data.every((found) => found === 99)).toBe(true);
      }
      for (const [index, opcode] of opcodes.entries()) scene.expectWhole(opcode, 1 + 10 * round + index);
    }
    for (const { queuePair } of ends) expect(queuePair.query().state).toBe(QueuePairState.readyToSend);
    for (const { verbs } of ends) expect(verbs.board.verify(true)).toBeUndefined();
  });
});
