import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Completion, CompletionStatus, EventType, Opcode, type SharedReceiveQueue } from '../../lib/index.ts';
import { describeOnBackends, settle, type Backend } from '../helpers/backends.ts';
import { connect, everyRight, makeEnd, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

const slotBytes = 16;

/** Clients that send to servers, which receive from one shared queue, on one board. */
class Lines {
  readonly verbs: Verbs;
  readonly queue: SharedReceiveQueue;
  /** For each received message: the work request, and the sent number. */
  readonly received: { readonly wrId: number; readonly number: number }[] = [];
  private readonly backend: Backend;
  private readonly clients: readonly End[];
  private readonly bytes: DataView;
  private posted = 0;
  private sent = 0;
  private sentAndTaken = 0;

  constructor(backend: Backend, maxWorkRequests: number, slots = 4096) {
    this.backend = backend;
    this.verbs = makeVerbs(backend);
    const { protectionDomain } = this.verbs;
    this.queue = protectionDomain.createSharedReceiveQueue({ maxWorkRequests });
    this.clients = Array.from({ length: 3 }, () => {
      const [client, server] = [makeEnd(this.verbs), makeEnd(this.verbs, { sharedReceiveQueue: this.queue })];
      connect(client, server);
      connect(server, client);
      return client;
    });
    const region = protectionDomain.allocate(slots * slotBytes, everyRight);
    this.bytes = new DataView(region.bytes.buffer, region.bytes.byteOffset, region.length);
    this.post = (count) => {
      for (let left = count; left > 0; left -= 1) {
        const at = (this.posted % slots) * slotBytes;
        this.queue.postReceive({ wrId: this.posted, scatter: [region.slice(at, slotBytes)] });
        this.posted += 1;
      }
    };
    this.slotOf = (wrId) => (wrId % slots) * slotBytes;
  }

  /** Posts receives. @throws VerbsError ENOMEM */
  readonly post: (count: number) => void;
  private readonly slotOf: (wrId: number) => number;

  /** Receives that wait for a message. */
  get waiting(): number {
    return this.posted - this.sent;
  }

  /** Messages for which the completion queue still has room: each completes at both ends. */
  get room(): number {
    return (
      this.verbs.completionQueue.capacity / 2 -
      (this.sent - Math.min(this.received.length, this.sentAndTaken))
    );
  }

  /** Sends this number of messages, in turn, and runs the boards for `steps` steps. */
  send(count: number, steps = 0): void {
    for (let left = count; left > 0; left -= 1) {
      const inlineData = new Uint8Array(slotBytes);
      new DataView(inlineData.buffer).setUint32(0, this.sent);
      const { queuePair } = this.clients[this.sent % this.clients.length]!;
      queuePair.postSend({ opcode: Opcode.send, signaled: true, inlineData });
      this.sent += 1;
    }
    if (this.backend === stepped) this.verbs.board.step(steps);
  }

  /** Polls the available completions, or waits until all sent messages have completed. */
  take(wait = false): void {
    const completions = Array.from({ length: 16 }, () => new Completion());
    const take = (): boolean => {
      for (let count = 1; count > 0;) {
        count = this.verbs.completionQueue.poll(completions);
        for (const { status, workQueue, wrId } of completions.slice(0, count)) {
          expect(status).toBe(CompletionStatus.success);
          if (workQueue === 0) this.sentAndTaken += 1;
          else this.received.push({ wrId, number: this.bytes.getUint32(this.slotOf(wrId)) });
        }
      }
      return this.received.length === this.sent && this.sentAndTaken === this.sent;
    };
    if (wait) settle(this.verbs.board, this.backend, take);
    else take();
  }

  /** Every message was received once, each by its own work request. */
  expectAll(): void {
    this.take(true);
    const inOrder = Array.from({ length: this.sent }, (_, index) => index);
    for (const name of ['number', 'wrId'] as const) {
      const found = this.received.map((each) => each[name]).sort((one, other) => one - other);
      expect(found).toEqual(inOrder);
    }
  }
}

const refusal = (attribute: string): unknown =>
  expect.objectContaining({ code: 'EINVAL', verb: 'modifySharedReceiveQueue', attribute });

describeOnBackends('a shared receive queue that changes its size', (backend) => {
  it('grows repeatedly with posted, unreceived work requests in it', () => {
    const lines = new Lines(backend, 4);
    const { queue } = lines;
    lines.post(4);
    expect(() => lines.post(1)).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
    for (const [maxWorkRequests, capacity] of [
      [5, 8],
      [8, 8],
      [300, 512],
      [1024, 1024],
    ] as const) {
      const { outstanding } = queue.driver;
      queue.modify({ maxWorkRequests });
      expect([queue.capacity, queue.driver.outstanding]).toEqual([capacity, outstanding]);
      lines.post(capacity - queue.driver.outstanding);
      expect(() => lines.post(1)).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
      lines.send(3);
      lines.take(true);
    }
    for (let round = 0; lines.waiting > 0; round += 1) {
      lines.send(Math.min(lines.waiting, 24));
      lines.take(true);
    }
    lines.expectAll();
  });

  it('shrinks, down to the posted work requests', () => {
    const lines = new Lines(backend, 64);
    const { queue } = lines;
    lines.post(9);
    expect(() => queue.modify({ maxWorkRequests: 8 })).toThrow(refusal('maxWorkRequests'));
    expect(queue.capacity).toBe(64);
    lines.send(1);
    lines.take(true);
    queue.modify({ maxWorkRequests: 8 });
    expect(queue.capacity).toBe(8);
    expect(() => lines.post(1)).toThrow(
      expect.objectContaining({
        code: 'ENOMEM',
        message: 'the receive queue is full: 8 work requests are not completed',
      }),
    );
    queue.modify({ maxWorkRequests: 16 });
    lines.post(8);
    lines.send(16);
    lines.expectAll();
  });
});

describe('the size of a shared receive queue', () => {
  it('changes while messages are at any stage', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('post', 'send', 'take', 'size'), fc.nat(40)), {
          minLength: 10,
          maxLength: 60,
        }),
        (actions) => {
          const lines = new Lines(stepped, 2);
          const { queue } = lines;
          for (const [what, count] of actions) {
            const room = queue.capacity - queue.driver.outstanding;
            if (what === 'post') lines.post(Math.min(count, room));
            else if (what === 'send') lines.send(Math.min(count % 8, lines.waiting, lines.room), count * 4);
            else if (what === 'take') lines.take();
            else queue.modify({ maxWorkRequests: Math.max(1, queue.driver.outstanding, 3 * count) });
            expect(lines.verbs.board.verify()).toBeUndefined();
          }
          lines.expectAll();
          lines.verbs.board.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is 1 to 32768 and at least a new limit, and keeps the old limit', () => {
    const { protectionDomain } = makeVerbs();
    const queue = protectionDomain.createSharedReceiveQueue({ maxWorkRequests: 16, limit: 0 });
    for (const maxWorkRequests of [0, -1, 1.5, 32_769])
      expect(() => queue.modify({ maxWorkRequests })).toThrow(refusal('maxWorkRequests'));
    queue.postReceive(Array.from({ length: 12 }, () => ({})));
    queue.modify({ limit: 12 });
    expect(() => queue.modify({ maxWorkRequests: 4 })).toThrow(refusal('maxWorkRequests'));
    expect(() => queue.modify({ maxWorkRequests: 32, limit: 33 })).toThrow(refusal('limit'));
    expect([queue.capacity, queue.query().limit]).toEqual([16, 12]);
    queue.modify({ maxWorkRequests: 32_768 });
    expect([queue.capacity, queue.query().limit]).toEqual([32_768, 12]);
    queue.modify({});
    expect([queue.capacity, queue.query().limit]).toEqual([32_768, 12]);
  });

  it('and the limit change together, to a limit that only the larger queue allows', () => {
    const lines = new Lines(stepped, 8);
    lines.post(8);
    lines.queue.modify({ maxWorkRequests: 16, limit: 12 });
    lines.verbs.board.runUntilIdle();
    let event = lines.verbs.context.pollEvent();
    while (event !== undefined && event.type !== EventType.sharedReceiveQueueLimitReached)
      event = lines.verbs.context.pollEvent();
    expect(event).toMatchObject({ object: lines.queue.number, detail: 8n });
    expect(lines.queue.query().limit).toBe(0);
  });

  it('stays if the device has no pages for a larger one', () => {
    const verbs = makeVerbs(stepped, { pageTableEntries: 64 });
    const queue = verbs.protectionDomain.createSharedReceiveQueue({
      maxWorkRequests: 8,
      maxScatterEntries: 16,
    });
    expect(() => queue.modify({ maxWorkRequests: 4096 })).toThrow(
      expect.objectContaining({ code: 'ENOMEM' }),
    );
    expect(queue.capacity).toBe(8);
    queue.postReceive(Array.from({ length: 8 }, () => ({})));
    expect(queue.driver.outstanding).toBe(8);
  });
});
