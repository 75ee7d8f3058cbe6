import { EmulatedFabric } from '../../lib/board/index.ts';
import type { BoardOptions } from '../../lib/board/addon.ts';
import { openDevice } from '../../lib/index.ts';
import { Random } from '../helpers/random.mjs';
import { Party, require } from './party.ts';
import { ReferenceAnswers } from './reference_answers.ts';
import { Wire } from './reference_line.ts';
import { ReferenceRequests } from './reference_requests.ts';

const ticksOfALook = 1000;
const ticksOfAMillisecond = 1e6;
const acts = 40;

interface Judged {
  act(): void;
  close(): void;
}

/** Boards with enough credits for every request: a reference expects each request at once. */
const boardVariants: readonly BoardOptions[] = [
  {},
  { queuePairContextsCached: 2, physicalCollectBuffers: 1 },
  { acknowledgeCoalescing: false },
  { mapping: 'adversarial' },
];

/** References: each one is the peer of a board and checks its packets. */
const kinds: readonly ((random: Random, wire: Wire, number: number) => Judged)[] = [
  (...given) => new ReferenceRequests(...given, 'RC'),
  (...given) => new ReferenceRequests(...given, 'UC'),
  (...given) => new ReferenceAnswers(...given),
];

/**
 * Connects a board to reference peers, which send it packets and compare its answers with those that the specification requires.
 * @param judged number of references
 * @throws Violation the board breaks a promise
 */
export function playWithReferences(seed: number, judged: number): void {
  if (judged === 0) return;
  const random = new Random(seed ^ 0x0bad_cafe);
  const options = random.pick(boardVariants);
  const fabric = new EmulatedFabric();
  const clock = performance.now;
  try {
    const board = fabric.makeBoard({
      ...options,
      progress: 'stepped',
      seed,
      queuePairs: 64,
      memoryKeys: 256,
    });
    performance.now = () => {
      board.advanceTime(ticksOfALook);
      return Number(board.now()) / ticksOfAMillisecond;
    };
    const party = new Party(board, openDevice(board.open(0)));
    const wire = new Wire(party, fabric.makeBoard({ progress: 'stepped' }));
    for (let number = 0; number < judged; number++) {
      const one = random.pick(kinds)(random, wire, number);
      for (let count = 0; count < acts; count++) one.act();
      one.close();
    }
    board.runUntilIdle();
    const wrong = board.verify(true);
    require(wrong === undefined, () => `the board of references at rest: ${wrong}`);
    const faults = board.takeDmaFaults();
    require(faults.length === 0, () =>
      `the board of references reached for ${faults[0]!.address.toString(16)}`);
    party.context[Symbol.dispose]();
  } finally {
    performance.now = clock;
    fabric.close();
  }
}
