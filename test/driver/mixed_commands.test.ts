// The writes of two commands are mixed in one virtual collect buffer, as by two writers that do not know of
// each other. A command with the doorbell checksum delivers no byte of the other one (US8589610: a checksum
// of the contents of the buffers).
import { describe, expect, it } from 'vitest';

import type { EmulatedBoard } from '../../lib/board/addon.ts';
import { Access, CompletionStatus, Opcode, openDevice } from '../../lib/index.ts';
import { COMMAND_HEADER_CHECKSUM_BYTE } from '../../lib/spec/index.ts';
import { functionRegister } from '../helpers/function_verbs.ts';
import { Random } from '../helpers/random.mjs';
import { connect, settle, type End } from '../helpers/connected.ts';
import { stepped } from '../helpers/make_verbs.ts';
import { makeBoard } from '../helpers/backends.ts';
import { capturing, type WrittenCommand } from '../helpers/command_bench.ts';

const seeds = 300;
const second = 1_000_000_000;
const line = 64;
const segment = 8;
const page = 4096;
const place = 256;
const commandBar = 2;

interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** How the writes of a command are split, and how those of two commands are interleaved. */
interface Mixing {
  readonly pieces: (random: Random, command: WrittenCommand) => Piece[];
  readonly mixed: (random: Random, one: Piece[], other: Piece[]) => Piece[];
}

/** Pieces of a command, split at each line and after `most` bytes. */
function cut({ offset, bytes }: WrittenCommand, most: () => number): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(at + most(), bytes.length, (Math.floor(at / line) + 1) * line);
    pieces.push({ offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return pieces;
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0]!);
}

const mixings: Readonly<Record<string, Mixing>> = {
  // Pieces of any size in any order, some of them repeated; segment 0 of the other command, which
  // distinguishes the two, arrives last.
  adversarial: {
    pieces: (random, command) => {
      const pieces = cut(command, () => 4 << random.below(5));
      return [...pieces, ...pieces.filter(() => random.below(8) === 0)];
    },
    mixed: (random, one, other) => {
      const begins = ({ offset }: Piece): boolean => offset % page < segment;
      const early = other.filter((piece) => !begins(piece));
      return [...shuffled(random, [...one, ...early]), ...other.filter(begins)];
    },
  },
  // Lines, or the parts that a processor evicts from a buffer before it is full; each writer's lines in
  // order, or nearly.
  'write combining': {
    pieces: (random, command) => cut(command, () => (random.below(4) === 0 ? 8 << random.below(3) : line)),
    mixed: (random, one, other) => {
      const result: Piece[] = [];
      const queues = [[...one], [...other]];
      while (queues.some((queue) => queue.length > 0)) {
        const queue = queues[random.below(2)]!;
        const next = random.below(4) === 0 ? 1 : 0;
        result.push(...queue.splice(Math.min(next, queue.length - 1), 1));
      }
      return result;
    },
  },
};

/** A board with one virtual collect buffer, and two connected pairs whose senders share it. */
function makeSenders(random: Random): { board: EmulatedBoard; written: WrittenCommand[]; ends: End[][] } {
  const board = makeBoard(stepped, { underlyingFunctions: 1, virtualCollectBuffers: 1 });
  const written: WrittenCommand[] = [];
  const context = openDevice(capturing(board.open(0), written));
  const protectionDomain = context.createProtectionDomain();
  const completionQueue = context.createCompletionQueue({ entries: 64 });
  const verbs = { board, context, protectionDomain, completionQueue };
  const makeEnd = (): End => ({
    verbs,
    queuePair: protectionDomain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
      capabilities: { maxInlineData: place },
      checksumSecret: random.below(2 ** 32),
    }),
  });
  const ends = [0, 1].map(() => {
    const pair = [makeEnd(), makeEnd()];
    connect(pair[0]!, pair[1]!);
    connect(pair[1]!, pair[0]!);
    return pair;
  });
  written.length = 0;
  return { board, written, ends };
}

interface Outcome {
  readonly foreign: number;
  readonly succeeded: number;
  /** Commands that were not executed because of their checksum. */
  readonly mismatches: number;
}

/**
 * The number of bytes that were delivered with status success but never sent; the writes of two commands are
 * interleaved by a seed.
 */
function foreignBytes(seed: number, { pieces, mixed }: Mixing): Outcome {
  const random = new Random(seed);
  const { board, written, ends } = makeSenders(random);
  const { verbs } = ends[0]![0]!;
  const region = verbs.protectionDomain.allocate(2 * place, Access.localWrite);
  const messages = ends.map(([from, to], wrId) => {
    to!.queuePair.postReceive({ wrId: 100 + wrId, scatter: [region.slice(wrId * place, place)] });
    const inlineData = Uint8Array.from({ length: random.below(place + 1) }, () => random.below(256));
    from!.queuePair.postSend({ opcode: Opcode.send, wrId, signaled: true, checksum: true, inlineData });
    return inlineData;
  });
  const [one, other] = written.map((command) => pieces(random, command));
  for (const piece of mixed(random, one!, other!))
    board.post({ underlyingFunction: 0, bar: commandBar, offset: piece.offset, data: piece.bytes });
  const completions = settle(ends[0]![0]!);
  // The device finds commands that were refused or left half written, and fetches them from the send queues.
  board.advanceTime(2 * second);
  completions.push(...settle(ends[0]![0]!), ...settle(ends[0]![0]!));
  const succeeded = completions.filter(({ status }) => status === CompletionStatus.success);
  let foreign = 0;
  for (const { wrId, byteLength } of succeeded) {
    if (wrId < 100) continue; // a send
    const received = region.bytes.subarray((wrId - 100) * place, (wrId - 100) * place + byteLength);
    const sent = messages[wrId - 100]!;
    foreign += Math.abs(sent.length - byteLength);
    for (let at = 0; at < byteLength; at++) if (received[at] !== sent[at]) foreign += 1;
  }
  expect(board.verify(true)).toBeUndefined();
  const mismatches = Number(functionRegister(verbs, 'checksum_mismatches')[0]);
  return { foreign, succeeded: succeeded.length, mismatches };
}

describe.each(Object.entries(mixings))('two commands mixed in one buffer: %s', (__, mixing) => {
  it('deliver no byte of each other, and both execute', () => {
    const outcomes = Array.from({ length: seeds }, (_, index) => ({
      seed: index + 1,
      ...foreignBytes(index + 1, mixing),
    }));
    expect(outcomes.filter(({ foreign, succeeded }) => foreign !== 0 || succeeded !== 4)).toEqual([]);
    expect(outcomes.filter(({ mismatches }) => mismatches > 0).length).toBeGreaterThan(3);
  });
});

describe('the secret of a queue pair', () => {
  it('is covered by the checksum: a command made without it never executes', () => {
    const random = new Random(1);
    const { board, written, ends } = makeSenders(random);
    const [from, to] = ends[0]!;
    to!.queuePair.postReceive({ wrId: 100, scatter: [] });
    from!.queuePair.postSend({ opcode: Opcode.send, wrId: 0, signaled: true, checksum: true });
    const { offset, bytes } = written[0]!;
    const forged = Uint8Array.from(bytes);
    const dwords = new Uint32Array(forged.buffer);
    const checksum = COMMAND_HEADER_CHECKSUM_BYTE / 4;
    dwords[checksum] = 0;
    const sum = dwords.reduce((total, dword) => total + dword, 0);
    dwords[checksum] = 2 ** 32 - 1 - (sum % (2 ** 32 - 1));
    const write = (data: Uint8Array): void =>
      board.post({ underlyingFunction: 0, bar: commandBar, offset, data });
    write(forged);
    expect(settle(from!)).toEqual([]);
    expect(functionRegister(from!.verbs, 'checksum_mismatches')).toEqual([1n]);
    // The driver gets the refusal event and has the device fetch the command, which has the right checksum.
    from!.verbs.context.driver.events.collect();
    expect(settle(from!).map(({ wrId, status }) => [wrId, status])).toContainEqual([
      0,
      CompletionStatus.success,
    ]);
    expect(functionRegister(from!.verbs, 'checksum_mismatches')).toEqual([1n]);
  });
});
