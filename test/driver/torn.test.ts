// A write of a command is lost or damaged on its way. The command is also in its send queue, from which the
// device fetches it.
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { FaultRule } from '../../lib/board/faults.ts';
import type { VirtualCollectBuffer } from '../../lib/driver/virtual_collect_buffers.ts';
import { CompletionStatus, Opcode, type Completion } from '../../lib/index.ts';
import { makePair, settle, type End } from '../helpers/connected.ts';
import { functionRegister } from '../helpers/function_verbs.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

afterEach(() => vi.useRealTimers());

const second = 1_000_000_000;
const faults: [string, Partial<FaultRule>][] = [
  ['lost', { kind: 'drop' }],
  ...[0x1, 0x3, 0xfffc, 0x7fff, 0x00ff, 0x5555].map((doubleWords): [string, Partial<FaultRule>] => [
    `torn to ${doubleWords.toString(16)}`,
    { kind: 'tear', doubleWords },
  ]),
];
const commandBar = 2;

/** Bytes of the inline data of each command, and the line of 64 B of the command that is lost or damaged. */
const streams: [number[], number][] = [
  [[0, 0, 0, 0], 1],
  [[64, 0, 0, 0], 0],
  [[64, 0, 0, 0], 1],
  [[0, 64, 0, 64], 1],
  [[0, 64, 0, 64], 2],
  [[128, 64, 0, 0], 0],
  [[64, 128, 192, 0], 1],
];

function post({ queuePair }: End, wrId: number, bytes: number, checksum = true): void {
  queuePair.postSend({
    opcode: Opcode.send,
    wrId,
    signaled: true,
    // without a checksum, a command whose beginning is lost might execute with the following bytes of another
    // writer
    checksum,
    inlineData: new Uint8Array(bytes).fill(wrId + 1),
  });
}

/** Receives of the peer, each with separate memory. */
function receive({ queuePair, verbs }: End, count: number): Uint8Array {
  const region = verbs.protectionDomain.allocate(count * 256);
  for (let index = 0; index < count; index++) {
    queuePair.postReceive({ wrId: 100 + index, scatter: [region.slice(index * 256, 256)] });
  }
  return region.bytes;
}

const sends = (completions: readonly Completion[]): [number, CompletionStatus][] =>
  completions.filter(({ wrId }) => wrId < 100).map(({ wrId, status }) => [wrId, status]);

function withFault(lengths: number[], nth: number, rule: Partial<FaultRule>, checksum: boolean): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const verbs = makeVerbs(stepped);
  const [from, to] = makePair(verbs);
  const received = receive(to, lengths.length);
  const fault = verbs.board.inject({ kind: 'drop', bar: commandBar, nth, ...rule });
  const done = lengths.flatMap((bytes, wrId) => {
    post(from, wrId, bytes, checksum);
    return sends(settle(from));
  });
  expect(verbs.board.injected(fault)).toBe(1);
  // The application makes no more calls: the device and the driver find the command within their time limits.
  verbs.board.advanceTime(2 * second);
  verbs.board.runUntilIdle();
  vi.advanceTimersByTime(1000);
  verbs.board.runUntilIdle();
  const sent = Number(functionRegister(verbs, 'commands_sent')[0]);
  expect(sent).toBe(lengths.length);
  expect([...done, ...sends(settle(from))]).toEqual(
    [...lengths.keys()].map((wrId) => [wrId, CompletionStatus.success]),
  );
  lengths.forEach((bytes, index) => {
    const place = received.subarray(index * 256, index * 256 + 256);
    expect([...place]).toEqual(Array.from({ length: 256 }, (_, at) => (at < bytes ? index + 1 : 0)));
  });
  expect(verbs.board.verify(true)).toBeUndefined();
}

describe.each(faults)('a write that is %s', (__, rule) => {
  it.each(streams)('blocks nothing permanently: commands of %j, line %i', (lengths, nth) => {
    withFault(lengths, nth, rule, true);
  });
});

describe('a write of payload that is lost, of a command without a checksum', () => {
  it.each<[number[], number]>([
    [[64, 64, 64], 1],
    [[64, 128, 64], 1],
    [[192, 64, 64], 2],
    [[0, 128, 128], 3],
  ])('is not completed by the next command: commands of %j, line %i', (lengths, nth) => {
    withFault(lengths, nth, { kind: 'drop' }, false);
  });
});

describe('a virtual collect buffer that several queue pairs share', () => {
  it('is released, and each continues', () => {
    const verbs = makeVerbs(stepped, { underlyingFunctions: 1, virtualCollectBuffers: 1 });
    const ends = [0, 1, 2].map(() => makePair(verbs));
    verbs.board.inject({ kind: 'drop', bar: commandBar, nth: 1 });
    ends.forEach(([from, to], wrId) => {
      receive(to, 1);
      post(from, wrId, wrId === 0 ? 64 : 0);
      verbs.board.runUntilIdle();
    });
    verbs.board.advanceTime(2 * second);
    const completions = [...settle(ends[0]![0]), ...settle(ends[0]![0])];
    const success = [0, 1, 2].map((wrId): [number, CompletionStatus] => [wrId, CompletionStatus.success]);
    expect(new Map(sends(completions))).toEqual(new Map(success));
  });
});

/** Events in the queue and in flight to it. */
const moreThanFit = 400;

describe('a buffer in error with a lost event', () => {
  it('is released with the next event', () => {
    const verbs = makeVerbs(stepped);
    const { driver } = verbs.context;
    const [from, to] = makePair(verbs);
    receive(to, 1);
    const own = driver.queuePairs.get(from.queuePair.number)!.virtualCollectBuffer;
    const other = driver.virtualCollectBuffers.all.find(({ number }) => number !== own.number)!;
    const fail = ({ offset }: VirtualCollectBuffer): void => {
      const beyondCommand = offset + 320;
      const data = new Uint8Array(8);
      verbs.board.post({ underlyingFunction: 0, bar: commandBar, offset: beyondCommand, data });
      verbs.board.runUntilIdle();
    };
    for (let count = 0; count < moreThanFit; count++) {
      fail(other);
      other.cancel();
      verbs.board.runUntilIdle();
    }
    fail(own);
    while (driver.events.poll() !== undefined);
    post(from, 0, 64);
    expect(sends(settle(from))).toEqual([]);
    fail(other);
    driver.events.collect();
    expect(sends(settle(from))).toEqual([[0, CompletionStatus.success]]);
  });
});
