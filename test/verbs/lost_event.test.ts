// A program that waits for a completion gets it within a second, even if the event or the arming was lost.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { FaultRule } from '../../lib/board/faults.ts';
import { Opcode } from '../../lib/index.ts';
import { makePair } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

const registerBar = 0;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Turns of the event loop within which an interrupt would arrive. */
async function turns(): Promise<void> {
  for (let left = 10; left > 0; left -= 1) await turn();
}

/** Waits on one queue while its notification is disturbed; then a SEND completes there. */
async function wait(
  solicitedOnly: boolean,
  fault: Partial<FaultRule>,
): Promise<{ verbs: Verbs; isTold: () => boolean }> {
  const verbs = makeVerbs(stepped);
  const { board, completionQueue, protectionDomain } = verbs;
  const [from, to] = makePair(verbs);
  to.queuePair.postReceive({ scatter: [protectionDomain.allocate(64).slice()] });
  await turns();
  board.runUntilIdle();
  let told = false;
  const number = board.inject({ kind: 'drop', ...fault });
  void completionQueue.wait({ solicitedOnly }).then(() => (told = true));
  board.runUntilIdle();
  from.queuePair.postSend({ opcode: Opcode.send, solicited: true, inlineData: new Uint8Array(8) });
  board.runUntilIdle();
  await turns();
  expect(board.injected(number)).toBe(1);
  return { verbs, isTold: () => told };
}

describe.each([false, true])('a wait for completions, solicited only: %s', (solicitedOnly) => {
  it.each<[string, Partial<FaultRule>]>([
    ['the interrupt', { kind: 'lose_interrupt' }],
    ['the request for the event', { kind: 'drop', bar: registerBar, count: 1 }],
  ])('ends within a second if %s is lost', async (_, fault) => {
    const { verbs, isTold } = await wait(solicitedOnly, fault);
    expect(isTold()).toBe(false);
    vi.advanceTimersByTime(1000);
    verbs.board.runUntilIdle();
    await turns();
    expect(isTold()).toBe(true);
  });
});
