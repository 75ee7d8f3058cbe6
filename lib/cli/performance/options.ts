import { COMMAND_PAYLOAD_BYTES, QUEUE_ENTRIES_MAXIMUM } from '../../spec/index.ts';
import type { QueuePairType } from '../../index.ts';
import type { Settings } from '../greeting.ts';
import type { MeetingPlace } from '../meeting.ts';
import { largestDatagram } from '../option_values.ts';
import type { EndOptions } from './end.ts';
import { atomicBytes, type AtomicType, type Operation } from './operation.ts';
import type { Extent } from './stopwatch.ts';

/** Options of `hca lat` and `hca bw`, as perftest names them; undefined: not given. */
export interface PerformanceWords {
  readonly size?: number;
  readonly all?: boolean;
  readonly iters?: number;
  readonly duration?: number;
  readonly warmup: number;
  readonly inline_size?: number;
  readonly mtu: number;
  readonly outs: number;
  readonly atomic_type: AtomicType;
  readonly connection: QueuePairType;
  readonly ibPort: number;
  readonly gidIndex: number;
  readonly sl: number;
  readonly qpTimeout: number;
  readonly rxDepth: number;
  readonly endToEndCredits?: boolean;
  readonly chk?: boolean;
  readonly events?: boolean;
  readonly listen?: boolean;
  /** TCP port. */
  readonly port: number;
  /** Seconds that the other end may be silent. */
  readonly timeout: number;
}

/** A measurement, with all defaults. */
export interface PerformanceOptions {
  readonly ends: EndOptions;
  /** Message sizes in bytes, in the order of measurement. */
  readonly sizes: readonly number[];
  readonly extent: Extent;
  /** Warm-up messages of each size, not measured. */
  readonly warmup: number;
  /** Compare the data at the end of each size. */
  readonly check: boolean;
  /** Sleep until completions come. */
  readonly events: boolean;
  /** Where to meet the other end, in another process; undefined: it is in this one. The end that waits answers. */
  readonly meeting?: MeetingPlace;
  readonly signal: AbortSignal;
}

/** Differences between the two commands. */
export interface PerformanceDefaults {
  readonly size: number;
  readonly iterations: number;
  readonly inlineBytes: number;
  readonly queuePairs: number;
  readonly txDepth: number;
}

/** Bytes: the largest path MTU, and the default size of a datagram. */
const usualDatagram = 1024;

/** Sizes of --all: 2 B to 8 MiB, as in perftest. */
const allSizes = Array.from({ length: 23 }, (_, index) => 2 ** (index + 1));

/** Options that exclude each other. The message names the option, and a correct value. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
}

/** @throws OptionsError */
export function performanceOptions(
  operation: Operation,
  host: string | undefined,
  words: PerformanceWords,
  defaults: PerformanceDefaults,
  signal: AbortSignal,
): PerformanceOptions {
  const { queuePairs, txDepth } = defaults;
  refuseService(operation, words.connection);
  const sizes = sizesOf(operation, words, defaults.size);
  const rxDepth = operation === 'send' ? words.rxDepth : 1;
  const completions = queuePairs * (txDepth + rxDepth);
  if (completions > QUEUE_ENTRIES_MAXIMUM) {
    throw new OptionsError(
      `${queuePairs} queue pairs of ${txDepth} sends and ${rxDepth} receives need a completion queue of ${completions} ` +
        `entries; a device has ${QUEUE_ENTRIES_MAXIMUM} at most: fewer of --qp, --tx-depth or --rx-depth`,
    );
  }
  return {
    ends: {
      operation,
      atomicType: words.atomic_type,
      type: words.connection,
      queuePairs,
      bytes: Math.max(...sizes),
      inlineBytes: inlineBytesOf(operation, words, defaults.inlineBytes),
      txDepth,
      rxDepth,
      endToEndCredits: creditsOf(operation, words),
      readAtomics: words.outs,
      mtu: words.mtu,
      port: words.ibPort,
      gidIndex: words.gidIndex,
      serviceLevel: words.sl,
      timeout: words.qpTimeout,
    },
    sizes,
    extent: extentOf(words, defaults.iterations),
    warmup: words.warmup,
    check: words.chk === true,
    events: eventsOf(operation, words),
    ...meetingOf(host, words),
    signal,
  };
}

function meetingOf(
  host: string | undefined,
  { listen = false, port, timeout }: PerformanceWords,
): Pick<PerformanceOptions, 'meeting'> {
  if (host === undefined) return listen ? { meeting: { port, timeout } } : {};
  if (!listen) return { meeting: { host, port, timeout } };
  throw new OptionsError(`give either --listen or the host ${host}, not both`);
}

/** Settings that the ends of a measurement in two processes must share, by the names of the options. */
export function settingsOf({ ends, sizes, extent, warmup, check }: PerformanceOptions): Settings {
  const { operation, atomicType, queuePairs, readAtomics, mtu } = ends;
  return {
    operation,
    '--connection': ends.type,
    '--size': sizes,
    ...('seconds' in extent ? { '--duration': extent.seconds } : { '--iters': extent.iterations }),
    '--warmup': warmup,
    '--chk': check,
    '--qp': queuePairs,
    '--mtu': mtu,
    '--end-to-end-credits': ends.endToEndCredits === true,
    ...(operation === 'read' || operation === 'atomic' ? { '--outs': readAtomics } : {}),
    ...(operation === 'atomic' ? { '--atomic_type': atomicType } : {}),
  };
}

function sizesOf(
  operation: Operation,
  { size, all, connection }: PerformanceWords,
  byDefault: number,
): readonly number[] {
  if (all === true && size !== undefined)
    throw new OptionsError('--all measures every size: leave out --size or --all');
  if (operation === 'atomic') {
    if (all === true) throw new OptionsError(`an atomic always has ${atomicBytes} B: leave out --all`);
    if (size !== undefined && size !== atomicBytes) {
      throw new OptionsError(`an atomic has ${atomicBytes} B, not ${size}: leave out --size`);
    }
    return [atomicBytes];
  }
  if (connection !== 'UD') return all === true ? allSizes : [size ?? byDefault];
  if (size !== undefined && size > largestDatagram) {
    throw new OptionsError(
      `a datagram is one packet: --size is ${size}, but must be 1 to ${largestDatagram}`,
    );
  }
  return all === true
    ? allSizes.filter((each) => each <= largestDatagram)
    : [size ?? Math.min(byDefault, usualDatagram)];
}

/** @throws OptionsError nothing of it takes receives of a reliable connection */
function creditsOf(operation: Operation, { endToEndCredits = false, connection }: PerformanceWords): boolean {
  if (endToEndCredits && (operation !== 'send' || connection !== 'RC'))
    throw new OptionsError(
      'only SENDs of a reliable connection need credits: leave out --end-to-end-credits',
    );
  return endToEndCredits;
}

/** @throws OptionsError the transport service has no such operation */
function refuseService(operation: Operation, type: QueuePairType): void {
  if (type === 'UD' && operation !== 'send') {
    throw new OptionsError(`a datagram can only be a send, not ${operation}: use --connection RC`);
  }
  if (type !== 'RC' && (operation === 'read' || operation === 'atomic')) {
    throw new OptionsError(`${type} does not support ${operation}: use --connection RC`);
  }
}

function eventsOf(operation: Operation, { events = false }: PerformanceWords): boolean {
  if (!events || operation !== 'write') return events;
  throw new OptionsError('a write generates no completion at its target: leave out --events');
}

function inlineBytesOf(
  operation: Operation,
  { inline_size: given }: PerformanceWords,
  byDefault: number,
): number {
  if (operation === 'send' || operation === 'write') return given ?? byDefault;
  if (given === undefined || given === 0) return 0;
  throw new OptionsError(`inline data is only for send and write, not ${operation}: leave out --inline_size`);
}

function extentOf({ iters, duration }: PerformanceWords, byDefault: number): Extent {
  if (duration === undefined) return { iterations: iters ?? byDefault };
  if (iters !== undefined) {
    throw new OptionsError('--iters and --duration exclude each other: leave out one of them');
  }
  return { seconds: duration };
}

/** Maximum inline data of a command, bytes. */
export const largestInline = COMMAND_PAYLOAD_BYTES;
