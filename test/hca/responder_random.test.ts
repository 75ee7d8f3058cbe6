import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CompletionStatus, Syndrome } from '../../lib/spec/index.ts';
import { HostResponder, pattern, type Answer, type Region, type Requester } from './host_responder.ts';

const size = 2048; // of the region, and of each receive

type Message =
  | { kind: 'send' | 'write' | 'writeWithImmediate'; offset: number; length: number }
  | { kind: 'read'; offset: number; length: number }
  | { kind: 'add'; slot: number; value: bigint };

/** One request packet, and the answer of a responder that gets it in order. */
interface Request {
  psn: number;
  psns: number;
  send(): void;
  /** Changes memory as the packet requests, and answers. For a duplicate, answers again. */
  answer(duplicate: boolean): Partial<Answer>[];
}

const place = fc.record({ offset: fc.nat(size), length: fc.nat(900) });
const message: fc.Arbitrary<Message> = fc.oneof(
  ...(['send', 'write', 'writeWithImmediate', 'read'] as const).map((kind) =>
    place.map(({ offset, length }) => ({ kind, offset, length: Math.min(length, size - offset) })),
  ),
  fc.record({
    kind: fc.constant('add' as const),
    slot: fc.nat(3),
    value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  }),
);
/** The next packet: the one in order, an earlier one, or a later one. */
const choice = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'next' as const, back: 0 }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('again' as const), back: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('ahead' as const), back: fc.integer({ min: 1, max: 3 }) }),
  },
);

/** A plain responder: one queue pair, one step at a time, every packet acknowledged. */
class Model {
  readonly memory = new Uint8Array(size);
  readonly received: { bytes: number[] | null; length: number }[] = [];
  readonly requests: Request[] = [];
  done = 0;
  msn = 0;
  private current: number[] = [];
  private readonly psnMask = 0xffffff;

  readonly peer: Requester;
  readonly region: Region;

  constructor(peer: Requester, region: Region) {
    this.peer = peer;
    this.region = region;
  }

  get expected(): number {
    return this.requests[this.done]?.psn ?? this.peer.psn;
  }

  /** Cuts a message into its packets. */
  add(given: Message, seed: number): void {
    const { peer, region } = this;
    const psn = peer.psn;
    if (given.kind === 'read') {
      const psns = peer.responses(given.length);
      this.put(
        psn,
        psns,
        () => peer.read(region, given.offset, given.length, { packetSequenceNumber: psn }),
        (duplicate) => {
          if (!duplicate) ++this.msn;
          const all = this.memory.slice(given.offset, given.offset + given.length);
          return Array.from({ length: psns }, (_, index) => ({
            psn: (psn + index) & this.psnMask,
            payload: all.slice(index * peer.mtu, (index + 1) * peer.mtu),
          }));
        },
      );
      return;
    }
    if (given.kind === 'add') {
      const view = new DataView(this.memory.buffer);
      let original = 0n;
      this.put(
        psn,
        1,
        () => peer.fetchAndAdd(region, given.slot * 8, given.value, { packetSequenceNumber: psn }),
        (duplicate) => {
          if (!duplicate) {
            original = view.getBigUint64(given.slot * 8, true);
            view.setBigUint64(given.slot * 8, BigInt.asUintN(64, original + given.value), true);
            ++this.msn;
          }
          return [{ opcode: 'atomic_acknowledge', psn, msn: this.msn, originalData: original }];
        },
      );
      return;
    }
    const payload = pattern(given.length, seed);
    const count = peer.responses(given.length);
    for (let index = 0; index < count; ++index) {
      const at = (psn + index) & this.psnMask;
      const last = index === count - 1;
      const part = payload.slice(index * peer.mtu, (index + 1) * peer.mtu);
      const position = count === 1 ? 'only' : index === 0 ? 'first' : last ? 'last' : 'middle';
      const suffix = given.kind === 'writeWithImmediate' && last ? '_with_immediate' : '';
      const operation = given.kind === 'send' ? 'send' : 'rdma_write';
      const fields = {
        virtualAddress: region.address + BigInt(given.offset),
        remoteKey: region.key,
        dmaLength: given.length,
        immediateData: seed,
        packetSequenceNumber: at,
      };
      this.put(
        at,
        1,
        () => peer.packet(`${operation}_${position}${suffix}`, fields, part),
        (duplicate) => {
          if (!duplicate) {
            if (given.kind === 'send') this.current.push(...part);
            else this.memory.set(part, given.offset + index * peer.mtu);
            if (last) {
              ++this.msn;
              if (given.kind === 'send') this.received.push({ bytes: this.current, length: given.length });
              else if (given.kind === 'writeWithImmediate')
                this.received.push({ bytes: null, length: given.length });
              this.current = [];
            }
          }
          const newest = (this.expected + this.psnMask) & this.psnMask;
          return [
            {
              opcode: 'acknowledge',
              psn: duplicate ? newest : at,
              msn: this.msn,
              syndrome: Syndrome.acknowledgeWithoutCredits,
            },
          ];
        },
      );
    }
  }

  private put(
    psn: number,
    psns: number,
    send: () => void,
    answer: (duplicate: boolean) => Partial<Answer>[],
  ): void {
    this.requests.push({ psn, psns, send, answer });
    this.peer.psn = (psn + psns) & this.psnMask;
  }
}

describe('the responder', () => {
  it('matches a plain responder under loss, duplication and reordering', () => {
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 14 }),
        fc.array(choice, { minLength: 20, maxLength: 90 }),
        fc.constantFrom(201, 0xfffff8),
        (messages, choices, psn) => {
          const host = new HostResponder();
          const region = host.region(size);
          const buffers = host.region(size * 16);
          const peer = host.queuePair({ psn });
          const model = new Model(peer, region);
          messages.forEach((each, index) => {
            model.add(each, index + 1);
            peer.postReceive([{ region: buffers, offset: index * size, length: size }]);
          });
          let silent = false;
          for (const { kind, back } of choices) {
            if (kind === 'next' && model.done < model.requests.length) {
              const request = model.requests[model.done++]!;
              request.send();
              expect(host.take()).toMatchObject(request.answer(false));
              silent = false;
            } else if (kind === 'again' && model.done > 0) {
              const request = model.requests[Math.max(0, model.done - back)]!;
              request.send();
              expect(host.take()).toMatchObject(request.answer(true));
            } else if (kind === 'ahead' && model.done + back < model.requests.length) {
              model.requests[model.done + back]!.send();
              expect(host.take()).toMatchObject(
                silent ? [] : [{ psn: model.expected, msn: model.msn, syndrome: Syndrome.sequenceError }],
              );
              silent = true;
            }
            expect(peer.responder()).toMatchObject({
              expected_psn: model.expected,
              message_sequence_number: model.msn,
            });
          }
          expect(region.bytes).toEqual(model.memory);
          const completions = host.completions();
          expect(completions).toMatchObject(
            model.received.map(({ length }, index) => ({
              byte_length: length,
              sequence_number: index,
              status: CompletionStatus.success,
            })),
          );
          model.received.forEach(({ bytes }, index) => {
            if (bytes !== null)
              expect([...buffers.bytes.subarray(index * size, index * size + bytes.length)]).toEqual(bytes);
          });
          expect(host.port.verify()).toBeNull();
          expect(host.port.pins(peer.number)).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('does the same with many requests in flight, in any order of its blocks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(message, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(6), { minLength: 60, maxLength: 60 }),
        (lists, steps) => {
          const host = new HostResponder();
          const models = lists.map((messages, which) => {
            const peer = host.queuePair({ psn: 1000 * (which + 1) });
            const model = new Model(peer, host.region(size));
            // A waiting READ may see a later write, so here no READ reads memory that is written later.
            messages
              .filter(({ kind }) => kind !== 'read')
              .forEach((each, index) => {
                model.add(each, index + 1);
                peer.postReceive([{ region: host.region(size), offset: 0, length: size }]);
              });
            return model;
          });
          let turn = 0;
          const expected = models.map(() => [] as Partial<Answer>[]);
          const longest = Math.max(...models.map(({ requests }) => requests.length));
          for (let index = 0; index < longest; ++index) {
            models.forEach((model, which) => {
              const request = model.requests[index];
              if (request === undefined) return;
              request.send();
              ++model.done;
              expected[which]!.push(...request.answer(false));
            });
            for (let count = steps[turn++ % steps.length]!; count > 0 && host.port.step(); --count)
              host.collect();
          }
          const answers = host.take();
          models.forEach((model, which) => {
            const own = answers.filter(({ psn }) => Math.floor(psn / 1000) === which + 1);
            expect(own).toMatchObject(expected[which]!);
            expect(model.region.bytes).toEqual(model.memory);
          });
          expect(host.port.verify()).toBeNull();
        },
      ),
      { numRuns: 40 },
    );
  });
});
