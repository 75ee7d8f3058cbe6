// Kicks by the kick records of an open function, which every backend has: functions of a stepped board.
import { expect, it } from 'vitest';

import { showKicks } from '../../lib/cli/observe/kicks.ts';
import { Output } from '../../lib/cli/output/output.ts';
import { KickRingWatch } from '../../lib/driver/kick_ring_watch.ts';
import { Observer } from '../../lib/driver/observer.ts';
import { Completion, CompletionStatus, Opcode, type Kick } from '../../lib/index.ts';
import { closing } from '../helpers/backends.ts';
import { makePair, type End } from '../helpers/connected.ts';
import { functionRegister, makeFunctions } from '../helpers/function_verbs.ts';
import type { Verbs } from '../helpers/make_verbs.ts';

const watchOf = ({ context }: Verbs, entriesLog2?: number): KickRingWatch =>
  closing(new KickRingWatch(context.driver.device, entriesLog2));

function send([{ queuePair, verbs }, to]: readonly [End, End], times = 1): void {
  for (let wrId = 0; wrId < times; wrId++) {
    to.queuePair.postReceive({ wrId, scatter: [] });
    queuePair.postSend({ opcode: Opcode.send, wrId, signaled: true });
    verbs.board.runUntilIdle();
    verbs.completionQueue.poll(completions);
  }
}
const completions = Array.from({ length: 4 }, () => new Completion());
const functionsOf = (kicks: readonly Kick[]): number[] =>
  kicks.map(({ underlyingFunction }) => underlyingFunction);

it("takes the kicks of all functions by the control function's ring, as an observer sees them", () => {
  const [control, one, two] = makeFunctions(3) as [Verbs, Verbs, Verbs];
  const pairs = [control, one, two].map((verbs) => makePair(verbs));
  const watch = watchOf(control);
  const seen = closing(new Observer(control.board.observe(0))).watchKicks();
  for (const pair of pairs) send(pair, 2);
  const taken = watch.take();
  expect(functionsOf(taken)).toEqual([0, 0, 1, 1, 2, 2]);
  expect(taken[2]).toMatchObject({
    queuePairNumber: pairs[1]![0].queuePair.number,
    sent: { status: CompletionStatus.success },
  });
  expect(taken).toEqual(seen.take());
  expect(watch.lost).toBe(0);
  watch.close();
  send(pairs[1]!);
  expect(functionRegister(control, 'kick_records_written')).toEqual([12n]);
});

it('takes those of another function alone, and leaves each its own ring', async () => {
  const [control, one, two] = makeFunctions(3) as [Verbs, Verbs, Verbs];
  const pairs = [one, two].map((verbs) => makePair(verbs));
  const all = watchOf(control);
  const own = watchOf(one);
  const kicksOfTwo = two.context.kicks();
  const first = kicksOfTwo.next();
  for (const pair of pairs) send(pair);
  expect(functionsOf(own.take())).toEqual([1]);
  const [, ofTwo] = all.take();
  expect((await first).value).toEqual(ofTwo);
  await kicksOfTwo.return();
  send(pairs[1]!);
  expect(functionsOf(all.take())).toEqual([2]);
});

it('loses what it does not take in time and is told how many records, and the device goes on', () => {
  const [control, one] = makeFunctions(2) as [Verbs, Verbs];
  const pair = makePair(one);
  const watch = watchOf(control, 3);
  send(pair, 20);
  expect(watch.take()).toHaveLength(4);
  send(pair);
  expect(watch.take()).toHaveLength(1);
  expect(watch.lost).toBe(2 * 20 - 8);
  expect(functionRegister(control, 'kick_records_dropped')).toEqual([32n]);
});

it('is not offered to another function for all', async () => {
  const [, one] = makeFunctions(2) as [Verbs, Verbs];
  await expect(one.context.kicks({ allFunctions: true }).next()).rejects.toMatchObject({
    code: 'EPERM',
    verb: 'observeKicks',
    message: expect.stringContaining('function 1 cannot observe the kicks of the others') as string,
    expected: expect.stringContaining('function 0') as string,
  });
});

it('yields the kicks of all functions to the program that has the control function', async () => {
  const [control, one] = makeFunctions(2) as [Verbs, Verbs];
  const pair = makePair(one);
  const kicks = control.context.kicks({ allFunctions: true });
  const first = kicks.next();
  send(pair);
  expect((await first).value).toMatchObject({ underlyingFunction: 1 });
  await kicks.return();
});

it('is shown a line each, with what it lost, until it is interrupted', async () => {
  const [control, one] = makeFunctions(2) as [Verbs, Verbs];
  const pair = makePair(one);
  const watch = watchOf(control, 3);
  send(pair, 5);
  const end = new AbortController();
  let text = '';
  const output = new Output({ out: (part) => (text += part), error: () => undefined }, false);
  const shown = showKicks(output, 'vfio:0000:01:00.0', control.context.driver.device, watch, end.signal);
  send(pair); // tells of the two that were dropped
  end.abort();
  await shown;
  const lines = text.trimEnd().split('\n');
  expect(lines[0]).toBe('vfio:0000:01:00.0: kicks of all functions; Ctrl+C ends it');
  expect(lines.filter((line) => / send .* sent$/.test(line))).toHaveLength(5);
  expect(lines.at(-1)).toMatch(/^2 records lost/);
});
