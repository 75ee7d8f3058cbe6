import { describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import type { SendRequest } from '../../lib/driver/command.ts';
import { VerbsError } from '../../lib/driver/errors.ts';
import { KickRecord, KickRecordRing } from '../../lib/driver/kick_records.ts';
import type { QueuePair } from '../../lib/driver/queue_pair.ts';
import { KickRecordType, Opcode, QueuePairState, decode } from '../../lib/spec/index.ts';
import { describeOnBackends, makeBoard, openDriver, settle, type Backend } from '../helpers/backends.ts';
import { CommandBench, sentBy } from '../helpers/command_bench.ts';

const entry = { addressLow: 0x1000, addressHigh: 1, length: 0, localKey: 0x55 };

/** A queue pair of a board, and the records of what it sends. */
function makeSender(
  backend: Backend,
  options: BoardOptions = {},
): { queuePair: QueuePair; sent: (count: number) => KickRecord[] } {
  const board = makeBoard(backend, options);
  const driver = openDriver(board);
  const ring = new KickRecordRing(driver.device, 12);
  const { queuePair } = new UnansweredQueuePair(driver, {
    entries: 1024,
    gatherEntries: 16,
    inlineBytes: 256,
  });
  const taken: KickRecord[] = [];
  const sent = (count: number): KickRecord[] => {
    settle(board, backend, () => {
      for (let record = new KickRecord(); ring.poll([record]) === 1; record = new KickRecord()) {
        if (record.type === KickRecordType.sent) taken.push(record);
      }
      return taken.length >= count;
    });
    return taken.splice(0);
  };
  return { queuePair, sent };
}

const mappings: readonly BoardOptions[] = [
  { mapping: 'write_combining' },
  { mapping: 'uncached' },
  ...[1, 2, 3].map((seed) => ({ mapping: 'adversarial', seed }) as const),
  { mapping: 'adversarial', seed: 4, doubleWordOnly: true },
  { doubleWordOnly: true, scoreboardVariant: 'direct' },
];

describeOnBackends('posting', (backend) => {
  // On a board on PCIe the test cannot choose how stores are split into transactions.
  it.each(backend.boards === undefined ? mappings : [{}])(
    'executes commands of every length in order, with their checksums: %j',
    (options) => {
      const { queuePair, sent } = makeSender(backend, options);
      const requests = Array.from({ length: 257 }, (_, length): SendRequest => {
        const inlineData = Uint8Array.from({ length }, (_byte, index) => length * 31 + index);
        return { opcode: Opcode.send, inlineData, checksum: true, signaled: length % 2 === 0 };
      });
      const gathers = Array.from({ length: 17 }, (_, count): SendRequest => {
        const gather = Array.from({ length: count }, () => entry);
        return {
          opcode: Opcode.rdmaWrite,
          gather,
          checksum: true,
          remote: { key: 7, addressLow: 0, addressHigh: 0xffff_ffff },
        };
      });
      const all = [...requests, ...gathers];
      expect(all.map((request) => queuePair.post(request))).toEqual(all.map((_, index) => index));
      const records = sent(all.length);
      expect(records.map((record) => record.sendQueueSequenceNumber)).toEqual(all.map((_, index) => index));
      expect(records.map((record) => record.length)).toEqual([
        ...requests.map((_, length) => length),
        ...gathers.map((_, count) => count * 16),
      ]);
      expect(new Set(records.map(({ status }) => status))).toEqual(new Set([0]));
    },
  );

  it('keeps batches and single posts in one order', () => {
    const { queuePair, sent } = makeSender(backend);
    let posted = 0;
    for (let round = 0; round < 20; round++) {
      queuePair.post({ opcode: Opcode.send });
      posted += 1 + queuePair.postBatch(Array.from({ length: round % 5 }, () => ({ opcode: Opcode.send })));
    }
    expect(sent(posted).map((record) => record.sendQueueSequenceNumber)).toEqual(
      Array.from({ length: posted }, (_, index) => index),
    );
    expect(queuePair.query()).toMatchObject({ next: posted, inFlight: 0 });
  });

  it('restarts after a reset', () => {
    const { queuePair, sent } = makeSender(backend);
    for (let times = 0; times < 3; times++) queuePair.post({ opcode: Opcode.send });
    sent(3);
    queuePair.modify({ state: QueuePairState.reset });
    expect(queuePair.sendQueue.nextSequenceNumber).toBe(0);
    expect(queuePair.query()).toMatchObject({ state: QueuePairState.reset, next: 0 });
  });
});

describe('a send queue', () => {
  it('is full until completions free its slots, and then accepts as many again', () => {
    const bench = new CommandBench();
    const queuePair = bench.makeQueuePair(4);
    const post = (): number => queuePair.post({ opcode: Opcode.send });
    for (const expected of [0, 1, 2, 3]) expect(post()).toBe(expected);
    expect(post).toThrow(
      expect.objectContaining({
        code: 'ENOMEM',
        message:
          'the send queue is full: 4 work requests are not completed, and none of them is signaled, so that no completion will free them; ' +
          'expected: at least one of them signaled, signalAll, or a queue pair that is reset',
      }),
    );
    expect(queuePair.sendQueue.outstanding).toBe(4);
    queuePair.sendQueue.completedThrough(2);
    for (const expected of [4, 5, 6]) expect(post()).toBe(expected);
    expect(post).toThrow(VerbsError);
    expect(bench.written.length).toBe(7);
  });

  it('refuses more data or entries than its limits, and posts nothing', () => {
    const bench = new CommandBench();
    const queuePair = bench.makeQueuePair();
    const refuse = (request: SendRequest, attribute: string, expected: string): void => {
      expect(() => queuePair.post(request)).toThrow(
        expect.objectContaining({ code: 'EINVAL', verb: 'postSend', attribute, expected }),
      );
    };
    refuse(
      { opcode: Opcode.send, inlineData: new Uint8Array(257) },
      'inlineData.length',
      'at most 256 B (maxInlineData)',
    );
    const gather = Array.from({ length: 17 }, () => entry);
    refuse({ opcode: Opcode.send, gather }, 'gather.length', 'at most 16 (maxGatherEntries)');
    expect(bench.written).toEqual([]);
    expect(queuePair.sendQueue.nextSequenceNumber).toBe(0);
  });

  it('posts a batch up to the first invalid request, and reports how many', () => {
    const bench = new CommandBench();
    const queuePair = bench.makeQueuePair();
    const good = { opcode: Opcode.send };
    const bad = { opcode: Opcode.send, inlineData: new Uint8Array(300) };
    expect(() => queuePair.postBatch([good, good, bad, good])).toThrow(
      expect.objectContaining({ code: 'EINVAL', posted: 2 }),
    );
    expect(sentBy(queuePair, bench.settle())).toEqual([0, 1]);
  });

  it('continues when sequence numbers wrap', () => {
    const bench = new CommandBench();
    const queuePair = bench.makeQueuePair(8);
    const sent: number[] = [];
    for (let posted = 0; posted < 0x1_0000 + 20; posted += 4) {
      queuePair.postBatch(Array.from({ length: 4 }, () => ({ opcode: Opcode.send })));
      sent.push(...sentBy(queuePair, bench.settle()));
      queuePair.sendQueue.completedThrough(sent.at(-1)!);
    }
    expect(sent.every((number, index) => number === (index & 0xffff))).toBe(true);
    expect(sent.length).toBe(0x1_0000 + 20);
  });

  it.each([0, 1, 3, 7, 15, 16])(
    'holds the same command that is written to the VCB, %i gather entries',
    (count) => {
      const bench = new CommandBench();
      const queuePair = bench.makeQueuePair();
      const gather = Array.from({ length: count }, (_, index) => ({ ...entry, length: index }));
      const { bytes } = bench.encode(queuePair, {
        opcode: count % 2 === 0 ? Opcode.rdmaRead : Opcode.rdmaWrite,
        gather,
        signaled: true,
        fence: count === 3,
        solicited: count === 7,
        immediateData: 0xfedc_ba98,
        remote: { key: 0x8000_0001, addressLow: 0xffff_fff0, addressHigh: 0x7fff },
        compareAdd: 0x2_0000_0001n,
        swap: 0x4_0000_0003n,
        addressHandle: { number: 5 },
        destinationQueuePair: 6,
        queueKey: 0x9000_0007,
      });
      expect(decode('command_header', bytes.slice(0, 64))).toEqual({
        opcode: count % 2 === 0 ? Opcode.rdmaRead : Opcode.rdmaWrite,
        queue_pair_number: queuePair.number,
        send_queue_sequence_number: 0,
        length: 16 * count,
        quality_of_service_level: 0,
        version: 1,
        signaled: 1,
        fence: count === 3 ? 1 : 0,
        solicited: count === 7 ? 1 : 0,
        inline_data: 0,
        checksum_enable: 0,
        gather_count: count,
        checksum: 0,
        immediate_data: 0xfedc_ba98,
        remote_key: 0x8000_0001,
        remote_address: 0x7fff_ffff_fff0n,
        compare_add: 0x2_0000_0001n,
        swap: 0x4_0000_0003n,
        address_handle: 5,
        destination_queue_pair: 6,
        queue_key: 0x9000_0007,
      });
      for (const [index, { length }] of gather.entries()) {
        const at = 64 + 16 * index;
        expect(decode('gather_entry', bytes.slice(at, at + 16))).toEqual({
          address: 0x1_0000_1000n,
          length,
          local_key: 0x55,
        });
      }
    },
  );
});
