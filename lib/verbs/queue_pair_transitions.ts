import { checkKeys, checkRange, invalid as invalidArgument } from '../driver/arguments.ts';
import { VerbsError } from '../driver/errors.ts';
import type { QueuePairAttributes } from '../driver/queue_pair_attributes.ts';
import { enumText } from '../spec/enum_names.ts';
import {
  PARTITION_KEY_TABLE_ENTRIES,
  PathMtu,
  QueuePairAttribute,
  QueuePairState,
  READ_ATOMIC_MAXIMUM,
  pathMtuNames,
  queuePairStateNames,
  queuePairTransitions,
  type QueuePairAttributeName,
  type QueuePairTransition,
  ServiceType,
} from '../spec/index.ts';

type Attributes = Pick<QueuePairTransition, 'required' | 'optional'>;

const { reset, error } = QueuePairState;

const attributeKeys: ReadonlySet<string> = new Set([
  'state',
  'currentState',
  ...Object.keys(QueuePairAttribute),
]);
const psnMaximum = 2 ** 24 - 1;
/** Largest values of attributes; the smallest is 0. */
const largest: Partial<Record<keyof QueuePairAttributes, number>> = {
  accessFlags: 0xff,
  partitionKeyIndex: PARTITION_KEY_TABLE_ENTRIES - 1,
  queueKey: 0xffff_ffff,
  timeout: 31,
  retryCount: 7,
  receiverNotReadyRetry: 7,
  receivePsn: psnMaximum,
  sendPsn: psnMaximum,
  maxReadAtomic: READ_ATOMIC_MAXIMUM,
  maxDestinationReadAtomic: READ_ATOMIC_MAXIMUM,
  minReceiverNotReadyTimer: 31,
  destinationQueuePair: psnMaximum,
};

/**
 * Checks a change against the transitions of a queue pair of this service.
 * @param from state of the queue pair
 * @throws VerbsError EINVAL, which names the attribute that is missing or not allowed, and the right value
 */
export function checkTransition(
  service: ServiceType,
  from: QueuePairState,
  attributes: QueuePairAttributes,
): void {
  checkKeys(attributeKeys, attributes);
  const to = attributes.state ?? from;
  if (queuePairStateNames[to] === undefined) {
    throw invalidArgument('modifyQueuePair', 'state', 'a QueuePairState', to);
  }
  const transition = findTransition(service, from, to);
  if (transition === undefined) {
    throw invalid(
      `a queue pair in ${nameOf(from)} cannot go to ${nameOf(to)}`,
      'state',
      targets(service, from).map(nameOf).join(', '),
    );
  }
  const { required, optional } = transition;
  const given = Object.entries(attributes)
    .filter(([name, value]) => name !== 'state' && name !== 'currentState' && value !== undefined)
    .filter(([name, value]) => name !== 'newNumber' || value !== false)
    .map(([name]) => name as QueuePairAttributeName);
  const missing = required.filter((name) => !given.includes(name));
  const what = `${nameOf(from)} to ${nameOf(to)}`;
  if (missing.length > 0) {
    throw invalid(`${what} lacks ${missing.join(', ')}`, missing.join(', '), describe(transition));
  }
  const tooMuch = given.filter((name) => !required.includes(name) && !optional.includes(name));
  if (tooMuch.length > 0) {
    throw invalid(`${what} does not take ${tooMuch.join(', ')}`, tooMuch.join(', '), describe(transition));
  }
  checkValues(attributes);
}

/** Transitions from any state to RESET or ERR require no attributes; a connection may be reset with another number. */
function findTransition(
  service: ServiceType,
  from: QueuePairState,
  to: QueuePairState,
): Attributes | undefined {
  if (to === reset && service !== ServiceType.unreliableDatagram)
    return { required: [], optional: ['newNumber'] };
  if (to === reset || to === error) return { required: [], optional: [] };
  return transitionsOf(service, from).find((each) => each.to === to);
}

function transitionsOf(service: ServiceType, from: QueuePairState): QueuePairTransition[] {
  return queuePairTransitions.filter((each) => each.service === service && each.from === from);
}

function targets(service: ServiceType, from: QueuePairState): QueuePairState[] {
  return [...transitionsOf(service, from).map(({ to }) => to), reset, error];
}

function describe({ required, optional }: Attributes): string {
  const list = (names: readonly string[]): string => (names.length === 0 ? 'nothing' : names.join(', '));
  return `required: ${list(required)}; optional: ${list(optional)}`;
}

function nameOf(state: QueuePairState): string {
  return enumText('QueuePairState', queuePairStateNames, state);
}

/** @throws VerbsError EINVAL: a value is out of its range */
function checkValues(attributes: QueuePairAttributes): void {
  for (const [name, most] of Object.entries(largest)) {
    const value: unknown = Reflect.get(attributes, name);
    if (value !== undefined) checkRange('modifyQueuePair', name, value, 0, most);
  }
  for (const name of ['drainedEvent', 'endToEndCredits', 'newNumber'] as const) {
    const value: unknown = attributes[name];
    if (value !== undefined && typeof value !== 'boolean') {
      throw invalidArgument('modifyQueuePair', name, 'true or false', value);
    }
  }
  const { pathMtu } = attributes;
  if (pathMtu === undefined || Object.values(PathMtu).includes(pathMtu)) return;
  const mtus = Object.values(PathMtu).map((mtu) => enumText('PathMtu', pathMtuNames, mtu));
  throw invalidArgument('modifyQueuePair', 'pathMtu', `one of ${mtus.join(', ')}`, pathMtu);
}

function invalid(message: string, attribute: string, expected: string): VerbsError {
  return new VerbsError(`${message}. Expected: ${expected}`, {
    code: 'EINVAL',
    verb: 'modifyQueuePair',
    attribute,
    expected,
  });
}
