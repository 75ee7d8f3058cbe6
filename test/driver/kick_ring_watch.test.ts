// Observes kicks by the kick records of an open function, which works with every backend; here on functions
// of a stepped board.
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

it("reports the kicks of all functions through the control function's ring, as to an observer", () => {
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

it('reports only its own kicks for another function, and leaves other rings unchanged', async () => {
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

it('loses records that it does not read in time, reports how many, and the device continues', () => {
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

it('does not let another function observe all functions', async () => {
  const [, one] = makeFunctions(2) as [Verbs, Verbs];
  await expect(one.context.kicks({ allFunctions: true }).next()).rejects.toMatchObject({
    code: 'EPERM',
    verb: 'observeKicks',
    message: expect.stringContaining('function 1 cannot observe the kicks of the others') as string,
    expected: expect.stringContaining('function 0') as string,
  });
});

it('leaves the kicks of all functions to the program that has the control function', async () => {
  const [control, one] = makeFunctions(2) as [Verbs, Verbs];
  const pair = makePair(one);
  const kicks = control.context.kicks({ allFunctions: true });
  const first = kicks.next();
  send(pair);
  expect((await first).value).toMatchObject({ underlyingFunction: 1 });
  await kicks.return();
});

it('prints a line for each kick, and the losses, until it is interrupted', async () => {
  const [control, one] = makeFunctions(2) as [Verbs, Verbs];
  const pair = makePair(one);
  const watch = watchOf(control, 3);
  send(pair, 5);
  const end = new AbortController();
  let text = '';
  const output = new Output({ out: (part) => (text += part), error: () => undefined }, false);
  const shown = showKicks(output, 'vfio:0000:01:00.0', control.context.driver.device, watch, end.signal);
  send(pair); // the first record reports the two dropped ones
  end.abort();
  await shown;
  const lines = text.trimEnd().split('\n');
  expect(lines[0]).toBe('vfio:0000:01:00.0: kicks of all functions; Ctrl+C ends it');
  expect(lines.filter((line) => / send .* sent$/.test(line))).toHaveLength(5);
  expect(lines.at(-1)).toMatch(/^2 records lost/);
});
