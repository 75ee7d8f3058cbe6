// A division of physical collect buffers is in force from its answer on, regardless of half-written commands
// that occupy buffers (US8484392, allocation and reassigning of resources).
import { describe, expect, it } from 'vitest';

import { CompletionStatus, Opcode, Resource, openDevice } from '../../lib/index.ts';
import { makeBoard } from '../helpers/backends.ts';
import { capturing, type WrittenCommand } from '../helpers/command_bench.ts';
import { makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import { stepped, type Verbs } from '../helpers/make_verbs.ts';
import { functionRegister } from '../helpers/function_verbs.ts';

const commandBar = 2;
const line = 64;
const own = 8;
const { physicalCollectBuffers } = Resource;

/** A function whose commands the test writes itself. */
interface Guest extends Verbs {
  readonly underlyingFunction: number;
  readonly written: WrittenCommand[];
}

function makeGuests(): [Guest, Guest, Guest] {
  const board = makeBoard(stepped, { underlyingFunctions: 4, physicalCollectBuffers: 3 * own });
  const guests = [0, 1, 2].map((underlyingFunction): Guest => {
    const written: WrittenCommand[] = [];
    const context = openDevice(capturing(board.open(underlyingFunction), written));
    const protectionDomain = context.createProtectionDomain();
    const completionQueue = context.createCompletionQueue({ entries: 64 });
    return { board, context, protectionDomain, completionQueue, underlyingFunction, written };
  });
  return guests as [Guest, Guest, Guest];
}

/** Posts an RDMA WRITE on each of `count` queue pairs; only the first line of each command is written. */
function begin(
  guest: Guest,
  count: number,
): { ends: [End, End][]; rest: WrittenCommand[]; data: Uint8Array[] } {
  const ends = Array.from({ length: count }, () => makePair(guest));
  guest.written.length = 0;
  const data = ends.map(([from, to], wrId) => {
    const memory = makeMemory(to, 32);
    const inlineData = new Uint8Array(32).fill(wrId + 1);
    const remote = memory.region.remote();
    from.queuePair.postSend({ opcode: Opcode.rdmaWrite, wrId, signaled: true, inlineData, remote });
    return memory.data;
  });
  const rest = guest.written.map(({ offset, bytes }) => {
    write(guest, { offset, bytes: bytes.subarray(0, line) });
    return { offset: offset + line, bytes: bytes.subarray(line) };
  });
  expect(new Set(guest.written.map(({ offset }) => offset)).size).toBe(count); // each command has its own buffer
  guest.board.runUntilIdle();
  return { ends, rest, data };
}

const write = ({ board, underlyingFunction }: Guest, { offset, bytes }: WrittenCommand): void =>
  board.post({ underlyingFunction, bar: commandBar, offset, data: bytes });

const entered = (guest: Verbs): number => Number(functionRegister(guest, 'send_queue_mode_entered')[0]);

describe('reallocated physical collect buffers', () => {
  it('are available to their new function at once, although half-written commands hold them, which still execute', () => {
    const [control, first, second] = makeGuests();
    const divide = (amounts: readonly [number, number]): void =>
      control.context.allocateResources(
        amounts.map((amount, index) => ({
          resource: physicalCollectBuffers,
          underlyingFunction: index + 1,
          amount,
        })),
      );
    control.context.allocateResources([
      { resource: physicalCollectBuffers, underlyingFunction: 0, amount: own },
      { resource: physicalCollectBuffers, underlyingFunction: 3, amount: 0 },
    ]);
    divide([2 * own, 0]);
    const held = begin(first, 2 * own);
    expect(entered(first)).toBe(0);
    divide([own, own]);
    expect(entered(first)).toBe(own);
    const given = begin(second, own);
    expect(entered(second)).toBe(0);
    for (const [guest, { ends, rest, data }] of [
      [first, held],
      [second, given],
    ] as const) {
      for (const piece of rest) write(guest, piece);
      const completions = settle(ends[0]![0]).map(({ wrId, status }) => [wrId, status]);
      expect(completions.sort(([one], [other]) => one! - other!)).toEqual(
        ends.map((_, wrId) => [wrId, CompletionStatus.success]),
      );
      expect(data).toEqual(ends.map((_, wrId) => new Uint8Array(32).fill(wrId + 1)));
    }
    expect(Number(functionRegister(first, 'send_queue_mode_kicks')[0])).toBe(own);
    expect(entered(second)).toBe(0);
    expect(control.board.verify(true)).toBeUndefined();
  });
});
