import { expect, it } from 'vitest';

import {
  Completion,
  CompletionOpcode,
  CompletionStatus,
  Opcode,
  type MemoryRegion,
} from '../../lib/index.ts';
import { everyRight } from '../helpers/connected.ts';
import { describeConnections, makeConnection, type Connection, type Side } from '../helpers/connection.ts';
import { Random } from '../helpers/random.mjs';

const slots = 16;
const slotBytes = 8192;
const lengths = [0, 1, 7, 64, 1023, 1024, 1025, 5000, slotBytes];
const messages = 400; // of each side

const byteOf = (message: number, at: number): number => (message * 31 + at * 7 + (at >> 8)) & 0xff;

/** A side that sends, writes, reads back and increments at its peer, and checks everything that arrives. */
class Party {
  readonly side: Side;
  readonly received: MemoryRegion;
  /** Memory in which the peer writes and increments. */
  readonly target: MemoryRegion;
  private readonly source: MemoryRegion;
  private readonly back: MemoryRegion;
  private readonly random: Random;
  private readonly completions = Array.from({ length: 8 }, () => new Completion());
  private readonly lengthOf = new Map<number, number>();
  private next = 0;
  private unfinished = 0;
  receives = 0;
  sends = 0;
  adds = 0;

  constructor(side: Side, seed: number) {
    this.side = side;
    this.random = new Random(seed);
    const region = (): MemoryRegion => side.protectionDomain.allocate(slots * slotBytes + 8, everyRight);
    [this.received, this.target, this.source, this.back] = [region(), region(), region(), region()];
    for (let slot = 0; slot < slots; slot++) this.receive(slot);
  }

  get isDone(): boolean {
    return this.next === messages && this.unfinished === 0;
  }

  /** Posts one operation if there is room. */
  act(peer: Party): void {
    if (this.next === messages || this.unfinished === slots || this.sends - peer.receives >= slots) return;
    const message = this.next++;
    this.unfinished += 1;
    const length = lengths[this.random.below(lengths.length)]!;
    const at = (message % slots) * slotBytes;
    for (let index = 0; index < length; index++) this.source.bytes[at + index] = byteOf(message, index);
    this.lengthOf.set(message, length);
    const gather = [this.source.slice(at, length)];
    const remote = peer.target.remote().slice(at, length);
    const { queuePair } = this.side;
    switch (this.random.below(3)) {
      case 0:
        this.sends += 1;
        queuePair.postSend({
          opcode: Opcode.sendWithImmediate,
          immediateData: message,
          gather,
          wrId: message,
          signaled: true,
        });
        break;
      case 1:
        queuePair.postSend([
          { opcode: Opcode.rdmaWrite, remote, gather },
          {
            opcode: Opcode.rdmaRead,
            remote,
            gather: [this.back.slice(at, length)],
            wrId: message,
            signaled: true,
          },
        ]);
        break;
      default:
        this.adds += 1;
        queuePair.postSend({
          opcode: Opcode.atomicFetchAndAdd,
          remote: peer.target.remote().slice(slots * slotBytes),
          gather: [this.back.slice(slots * slotBytes)],
          compareAdd: 1n,
          wrId: message,
          signaled: true,
        });
    }
  }

  /** Polls completions, and checks them. */
  take(): void {
    const count = this.side.completionQueue.poll(this.completions);
    for (const { status, opcode, wrId, byteLength, immediateData } of this.completions.slice(0, count)) {
      expect(status).toBe(CompletionStatus.success);
      if (opcode === CompletionOpcode.receive) {
        this.receives += 1;
        this.check(this.received, wrId * slotBytes, immediateData, byteLength);
        this.receive(wrId);
      } else {
        this.unfinished -= 1;
        const length = this.lengthOf.get(wrId)!;
        if (opcode === CompletionOpcode.rdmaRead) {
          this.check(this.back, (wrId % slots) * slotBytes, wrId, length);
        }
      }
    }
  }

  private receive(slot: number): void {
    const scatter = [this.received.slice(slot * slotBytes, slotBytes)];
    this.side.queuePair.postReceive({ wrId: slot, scatter });
  }

  private check({ bytes }: MemoryRegion, at: number, message: number, length: number): void {
    for (let index = 0; index < length; index++) {
      if (bytes[at + index] === byteOf(message, index)) continue;
      expect({ message, index, byte: bytes[at + index] }).toEqual({
        message,
        index,
        byte: byteOf(message, index),
      });
    }
  }
}

function exchange({ board, client, server }: Connection, isStepped: boolean, seed: number): void {
  const parties = [new Party(client, seed), new Party(server, seed + 1)] as const;
  const [first, second] = parties;
  const givenUp = performance.now() + 60_000;
  while (
    !parties.every((party) => party.isDone) ||
    first.receives < second.sends ||
    second.receives < first.sends
  ) {
    first.act(second);
    second.act(first);
    if (isStepped) board.step(150);
    for (const party of parties) party.take();
    if (performance.now() > givenUp) throw new Error(`the exchange does not end; seed ${seed}`);
  }
  // Each fetch and add was executed once.
  const counted = parties.map(({ target }) =>
    new DataView(target.bytes.buffer).getBigUint64(slots * slotBytes, true),
  );
  const asked = parties.map((party) => BigInt(party.adds));
  expect(counted).toEqual(asked.reverse());
}

describeConnections('both ends of a connection at once', (place) => {
  it('lose, repeat and confuse nothing', () => {
    exchange(makeConnection(place), place.backend.options.progress === 'stepped', 7);
  });
});
