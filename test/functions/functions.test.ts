import { describe, expect, it } from 'vitest';

import { Completion, CompletionStatus, Opcode, openDevice } from '../../lib/index.ts';
import { describeOnBackends, closing, makeBoard, settle } from '../helpers/backends.ts';
import { connect, makeEnd, makeMemory } from '../helpers/connected.ts';
import { openFunctions } from '../helpers/function_verbs.ts';

const all = [0, 1, 2, 3, 4, 5, 6, 7];
const bytes = 5000;

describeOnBackends('all functions of a board', (backend) => {
  it('run verbs concurrently, each as a device of its own, around a ring', () => {
    const board = makeBoard(backend);
    const functions = openFunctions(board, all);
    const next = (index: number): number => (index + 1) % all.length;
    // Each function is connected to the next and to the previous one.
    const ends = functions.map((verbs) => ({ after: makeEnd(verbs), before: makeEnd(verbs) }));
    ends.forEach(({ after }, index) => {
      const { before } = ends[next(index)]!;
      connect(after, before);
      connect(before, after);
    });
    const sources = ends.map(({ after }, index) => makeMemory(after, bytes, index));
    const sent = ends.map(({ before }) => makeMemory(before, bytes, 99));
    const written = ends.map(({ before }) => makeMemory(before, bytes, 98));
    const read = ends.map(({ after }) => makeMemory(after, bytes, 97));
    ends.forEach(({ before }, index) =>
      before.queuePair.postReceive({ wrId: index, scatter: [sent[index]!.region.slice()] }),
    );
    ends.forEach(({ after }, index) => {
      const remote = written[next(index)]!.region.remote();
      const gather = [sources[index]!.region.slice()];
      after.queuePair.postSend([
        { opcode: Opcode.send, gather, wrId: 100, signaled: true },
        { opcode: Opcode.rdmaWrite, gather, remote, wrId: 101, signaled: true },
        { opcode: Opcode.rdmaRead, gather: [read[index]!.region.slice()], remote, wrId: 102, signaled: true },
      ]);
    });
    const taken = all.map((): Completion[] => []);
    settle(board, backend, () =>
      functions.every(({ completionQueue }, index) => {
        const completions = Array.from({ length: 4 }, () => new Completion());
        taken[index]!.push(...completions.slice(0, completionQueue.poll(completions)));
        return taken[index]!.length >= 4;
      }),
    );
    for (const index of all) {
      expect(taken[index]!.map(({ status }) => status)).toEqual(
        Array.from({ length: 4 }, () => CompletionStatus.success),
      );
      expect(taken[index]!.map(({ wrId }) => wrId).sort((a, b) => a - b)).toEqual([index, 100, 101, 102]);
      const { data } = sources[index]!;
      expect([sent[next(index)]!.data, written[next(index)]!.data, read[index]!.data]).toEqual([
        data,
        data,
        data,
      ]);
    }
  });
});

describe('a device string', () => {
  it('opens the functions of a named board, in any order after the control function', () => {
    const name = `name=functions&queuePairs=64&pageTableEntries=4096&underlyingFunctions=4`;
    const opened = [0, 3, 1].map((number) => closing(openDevice(`emu:${number}?${name}`)));
    expect(opened.map((context) => context.queryDevice().underlyingFunction)).toEqual([0, 3, 1]);
    const ranges = opened.map(({ driver }) => driver.virtualCollectBuffers.all.map(({ number }) => number));
    expect(new Set(ranges.flat()).size).toBe(ranges.flat().length);
    expect(() => openDevice(`emu:4?${name}`)).toThrow(
      'underlying function 4 does not exist: the board has 4',
    );
    expect(() => openDevice(`emu:3?${name}`)).toThrow(expect.objectContaining({ code: 'EBUSY' }));
  });
});
