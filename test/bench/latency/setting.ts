import type { EndOptions } from '../../../lib/cli/performance/end.ts';
import type { Run } from '../../../lib/cli/performance/data.ts';
import { latencyDepth } from '../../../lib/cli/performance/latency_sides.ts';
import { statisticsOf } from '../../../lib/cli/output/statistics.ts';

/** Bytes of a message, for every contender. */
export const bytes = 64;
/** Timed round trips of a round; as many untimed ones precede them. */
export const roundTrips = 4000;

/** A SEND of inline data, and its answer. */
export const run: Run = { operation: 'send', atomicType: 'FETCH_AND_ADD', bytes };
export const endOptions: EndOptions = {
  operation: run.operation,
  atomicType: run.atomicType,
  type: 'RC',
  queuePairs: 1,
  bytes,
  inlineBytes: bytes,
  txDepth: latencyDepth,
  rxDepth: 64,
  readAtomics: 1,
  mtu: 1024,
  port: 1,
  gidIndex: 0,
  serviceLevel: 0,
  timeout: 14,
};

/** Half of a round trip, microseconds: the median of nanoseconds there and back. */
export function halfOf(samples: Float64Array): number {
  return statisticsOf(samples).median / 2000;
}

/**
 * A contender takes its turn in each round. It opens everything again, so that nothing of it runs in
 * another's turn.
 */
export interface Contender {
  readonly name: string;
  /** Half of a round trip, microseconds. */
  round(): Promise<number>;
}
