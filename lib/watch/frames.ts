import type { Occupancy } from '../driver/occupancy.ts';
import type { FunctionRates, PortRates } from './rates.ts';

// Messages to and from the page: JSON, one each. Frequent items are tuples.

/** A histogram: bin and count; bin b begins at 2^(b/8) nanoseconds. */
export type Bins = readonly (readonly [bin: number, count: number])[];

/** The board, once. */
export interface BoardMessage {
  readonly kind: 'board';
  readonly device: string;
  /** Underlying functions whose rows there are. */
  readonly functions: readonly number[];
  readonly sizes: {
    readonly virtualCollectBuffers: number;
    readonly physicalCollectBuffers: number;
    readonly dedicatedPhysicalCollectBuffers: number;
    readonly transmitVirtualLanes: number;
  };
  /** The page sets its pace. */
  readonly stepped: boolean;
  /** Why commands wait, by the counter that counts them: in words. */
  readonly causes: Readonly<Record<string, string>>;
}

/** Commands since the message before: of some of the commands, one of `oneOf`. */
export interface WaysMessage {
  readonly kind: 'ways';
  /** Milliseconds since the message before. */
  readonly milliseconds: number;
  readonly kicks: number;
  readonly oneOf: number;
  /** Records that came faster than they were taken, since the beginning. */
  readonly lost: number;
  /** Up to 48 commands that were kicked or have left. */
  readonly ways: readonly (readonly [
    underlyingFunction: number,
    level: number,
    /** -1: none. */
    virtualCollectBuffer: number,
    physicalCollectBuffer: number,
    lane: number,
    queuePair: number,
  ])[];
  /** From the first write of a command to its last packet, and to its completion. */
  readonly latencies: readonly {
    readonly underlyingFunction: number;
    readonly level: number;
    readonly doorbell: Bins;
    readonly completion: Bins;
  }[];
}

/** How things are now. */
export interface StateMessage {
  readonly kind: 'state';
  readonly functions: readonly (Occupancy & { readonly perSecond: FunctionRates | undefined })[];
  readonly ports: readonly PortRates[];
  /** Data units that left a block, a second. */
  readonly blocks: Readonly<Record<string, number | undefined>>;
  /** Not free: number, state, function (-1: none). */
  readonly virtual: readonly (readonly [number, number, number])[];
  readonly physical: readonly (readonly [number, number, number])[];
  /** Commands listed; own execution and completion credits that are free, and shared ones held. */
  readonly lanes: readonly (readonly [number, number, number, number, number])[];
  /** Device clock of a stepped board, nanoseconds, and the steps a second that it does. */
  readonly virtualTime: number | undefined;
  readonly pace: number | undefined;
}

/** Queue pairs, those with most outstanding first; `all` of them there are. */
export interface QueuePairsMessage {
  readonly kind: 'queuePairs';
  readonly all: number;
  readonly queuePairs: readonly {
    readonly number: number;
    readonly underlyingFunction: number;
    readonly level: number;
    readonly type: string;
    readonly state: string;
    readonly waiting: number;
    readonly unacknowledged: number;
    readonly receives: number | undefined;
    readonly hold: string;
    readonly peer: string | undefined;
  }[];
}

/** Asynchronous events that came. */
export interface EventsMessage {
  readonly kind: 'events';
  readonly events: readonly string[];
  readonly lost: number;
}

/** Why a queue pair does not go on; no reasons: there is none of this number. */
export interface WhyMessage {
  readonly kind: 'why';
  readonly number: number;
  readonly reasons: readonly string[];
}

/** The board is gone. */
export interface EndMessage {
  readonly kind: 'end';
  readonly reason: string;
}

export type PageMessage =
  BoardMessage | WaysMessage | StateMessage | QueuePairsMessage | EventsMessage | WhyMessage | EndMessage;

/** A request of a page. */
export type PageRequest =
  | { readonly kind: 'pause'; readonly paused: boolean }
  /** Undefined: no longer. */
  | { readonly kind: 'why'; readonly number: number | undefined }
  /** Of a stepped board: steps a second from now on, or some steps now. */
  | { readonly kind: 'pace'; readonly stepsPerSecond: number }
  | { readonly kind: 'step'; readonly steps: number };

const isWhole = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most;

const mostStepsPerSecond = 100_000;
const mostSteps = 10_000;
const largestQueuePairNumber = 0xff_ffff;

/** Reads a message of a page. Undefined: no request of a page of this version. */
export function parseRequest(text: string): PageRequest | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof given !== 'object' || given === null) return undefined;
  const { kind, paused, number, stepsPerSecond, steps } = given as Record<string, unknown>;
  if (kind === 'pause' && typeof paused === 'boolean') return { kind, paused };
  if (kind === 'why' && number === undefined) return { kind, number };
  if (kind === 'why' && isWhole(number, largestQueuePairNumber)) return { kind, number };
  if (kind === 'pace' && isWhole(stepsPerSecond, mostStepsPerSecond)) return { kind, stepsPerSecond };
  if (kind === 'step' && isWhole(steps, mostSteps)) return { kind, steps };
  return undefined;
}
