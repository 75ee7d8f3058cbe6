import { expect, it } from 'vitest';

import { Completion, CompletionStatus, Opcode } from '../../lib/index.ts';
import { connect, makeEnd, makeMemory } from '../helpers/connected.ts';
import { makeFunctions } from '../helpers/function_verbs.ts';

it('all work completes with one lane, one credit, one PCB, one dedicated PCB and none for management', () => {
  const functions = makeFunctions(2, {
    underlyingFunctions: 2,
    physicalCollectBuffers: 1,
    dedicatedPhysicalCollectBuffers: 1,
    managementPhysicalCollectBuffers: 0,
    transmitVirtualLanes: 1,
    executionCreditsPerLane: 1,
    completionCreditsPerLane: 1,
    sharedExecutionCredits: 0,
    sharedCompletionCredits: 0,
    queuePairContextsCached: 2,
  });
  // Each function has two queue pairs, connected to themselves.
  const ends = functions.flatMap((verbs) => [makeEnd(verbs), makeEnd(verbs)]);
  for (const end of ends) connect(end, end);
  const memories = ends.map((end) => makeMemory(end, 4096, 3));
  const numbers = Array.from({ length: 20 }, (_, number) => number);
  ends.forEach(({ queuePair }, index) => {
    const { region } = memories[index]!;
    for (const wrId of numbers)
      queuePair.postSend({
        opcode: wrId % 3 === 0 ? Opcode.rdmaRead : Opcode.rdmaWrite,
        gather: [region.slice(0, 1500)],
        remote: region.remote().slice(2048, 1500),
        wrId,
        signaled: true,
        fence: wrId % 5 === 4,
      });
  });
  functions[0]!.board.runUntilIdle();
  for (const [index, { completionQueue }] of functions.entries()) {
    const completions = Array.from({ length: 64 }, () => new Completion());
    const taken = completions.slice(0, completionQueue.poll(completions));
    expect(taken.every(({ status }) => status === CompletionStatus.success)).toBe(true);
    for (const { queuePair } of ends.slice(2 * index, 2 * index + 2)) {
      const own = taken.filter(({ queuePairNumber }) => queuePairNumber === queuePair.number);
      expect(own.map(({ wrId }) => wrId)).toEqual(numbers);
    }
  }
});
