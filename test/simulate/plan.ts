import { Random } from '../helpers/random.mjs';

/** Bits of data units that flip in the memory of the device: single ones, and two of one word. */
const bitErrorKinds = ['bitErrors', 'doubleBitErrors'] as const;

/** Reads of payload in host memory take time, and overtake each other. */
const latencyKinds = ['dmaLatency'] as const;

const otherKinds = [
  /** Packets are lost, delayed, duplicated, reordered, corrupted. */
  'loss',
  'delay',
  'duplication',
  'reordering',
  'corruption',
  /** Old packets are replayed. */
  'replays',
  /** An attacker sends packets with valid or invalid checksums. */
  'hostility',
  /** Some work requests must fail. */
  'failures',
  /** Queue pairs are reset, stopped or destroyed during their work, and reconnected. */
  'disconnects',
] as const;

/** Faults of a simulation. */
export const faultKinds = [...otherKinds, ...bitErrorKinds, ...latencyKinds] as const;
export type FaultKind = (typeof faultKinds)[number];

/** The complete input of a simulation. */
export interface Plan {
  readonly seed: number;
  readonly boards: number;
  /** Pairs of queue pairs, RC and UC. */
  readonly connections: number;
  /** Queue pairs of unreliable datagram. */
  readonly stations: number;
  /** Work requests of each queue pair. */
  readonly operations: number;
  readonly faults: readonly FaultKind[];
  /** Queue pairs of a separate board, whose peers are references. */
  readonly judged: number;
}

/** The plan of a seed: most are small; one in twenty has many queue pairs. */
export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const isLarge = random.once(20);
  const plan: Plan = {
    seed,
    boards: 1 + random.below(4),
    connections: isLarge ? 40 + random.below(60) : 1 + random.below(12),
    stations: random.below(isLarge ? 32 : 6),
    operations: isLarge ? 4 + random.below(8) : 10 + random.below(60),
    faults: otherKinds.filter(() => random.once(2)),
    judged: random.below(4),
  };
  const bitErrors = bitErrorKinds.filter(() => random.once(4));
  return { ...plan, faults: [...plan.faults, ...bitErrors, ...latencyKinds.filter(() => random.once(3))] };
}

/**
 * The smallest plan that fails too: fewer faults, queue pairs, work requests, boards, as long as it fails.
 * @param fails whether a plan fails
 */
export async function minimize(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  for (const smaller of smallerThan(plan)) if (await fails(smaller)) return await minimize(smaller, fails);
  return plan;
}

function* smallerThan(plan: Plan): Generator<Plan> {
  for (const fault of plan.faults) yield { ...plan, faults: plan.faults.filter((each) => each !== fault) };
  for (const [name, least] of [
    ['stations', 0],
    ['connections', 0],
    ['operations', 1],
    ['boards', 1],
    ['judged', 0],
  ] as const) {
    const many = plan[name];
    const fewer = new Set([least, Math.floor(many / 4), Math.floor(many / 2), many - 1]);
    for (const count of fewer) if (count >= least && count < many) yield { ...plan, [name]: count };
  }
}
