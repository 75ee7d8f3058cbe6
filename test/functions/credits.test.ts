import { expect, it } from 'vitest';

import { Opcode, QualityOfServiceLevel, Resource, type Context, type CreditStatus } from '../../lib/index.ts';
import { readOccupancy } from '../../lib/driver/occupancy.ts';
import { connect, makeEnd } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

const { low, high } = QualityOfServiceLevel;

function credits(own: number, ownFree: number, sharedHeld: number, sharedFree: number): CreditStatus {
  return { own, ownFree, sharedHeld, sharedFree };
}

/** The function has lanes 0 and 1, low and high; each owns 1 execution and 2 completion credits; 3 of each are shared. */
function makeFunction(): Verbs {
  const verbs = makeVerbs(stepped, {
    underlyingFunctions: 1,
    transmitVirtualLanes: 2,
    executionCreditsPerLane: 1,
    completionCreditsPerLane: 2,
    sharedExecutionCredits: 3,
    sharedCompletionCredits: 3,
  });
  const lanesOf = { resource: Resource.transmitVirtualLanes, underlyingFunction: 0 };
  verbs.context.allocateResources([
    { ...lanesOf, lanes: [0, 1] },
    { ...lanesOf, level: low, lanes: [0] },
    { ...lanesOf, level: high, lanes: [1] },
  ]);
  return verbs;
}

/** Sends messages that the peer never acknowledges: each holds a completion credit. */
function sendToNobody(verbs: Verbs, count: number): void {
  const [from, gone] = [makeEnd(verbs), makeEnd(verbs)];
  connect(from, gone, { timeout: 0 });
  for (let wrId = 0; wrId < count; wrId++) from.queuePair.postSend({ opcode: Opcode.send, wrId });
  verbs.board.runUntilIdle();
}

const completionOf = (context: Context): CreditStatus[] =>
  context.queryCredits().map(({ completion }) => completion);

it("queryCredits returns the own and the shared credits of each level's lanes", () => {
  const verbs = makeFunction();
  expect(verbs.context.queryCredits()).toEqual(
    [low, high].map((level) => ({
      level,
      execution: credits(1, 1, 0, 3),
      completion: credits(2, 2, 0, 3),
    })),
  );
  sendToNobody(verbs, 1);
  expect(completionOf(verbs.context)).toEqual([credits(2, 1, 0, 3), credits(2, 2, 0, 3)]);
  sendToNobody(verbs, 3);
  expect(completionOf(verbs.context)).toEqual([credits(2, 0, 2, 1), credits(2, 2, 0, 1)]);
  // The control registers that `hca top` reads agree.
  const [function0] = readOccupancy(verbs.context.driver.device);
  expect(
    function0!.levels.map(({ completionCredits, sharedCompletionCredits }) => [
      completionCredits,
      sharedCompletionCredits,
    ]),
  ).toEqual([
    [0, 2],
    [2, 0],
  ]);
});
