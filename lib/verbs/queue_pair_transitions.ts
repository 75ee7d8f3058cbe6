import { VerbsError } from '../driver/errors.ts';
import type { QueuePairAttributes } from '../driver/queue_pair_attributes.ts';
import {
  QueuePairState,
  queuePairStateNames,
  queuePairTransitions,
  type QueuePairAttributeName,
  type QueuePairTransition,
  type ServiceType,
} from '../spec/index.ts';

type Attributes = Pick<QueuePairTransition, 'required' | 'optional'>;

const { reset, error } = QueuePairState;

/**
 * Refuses a change that no transition of a queue pair of this service takes.
 * @param from state of the queue pair
 * @throws VerbsError EINVAL, which names what is missing or too much, and what would be right
 */
export function checkTransition(
  service: ServiceType,
  from: QueuePairState,
  attributes: QueuePairAttributes,
): void {
  const to = attributes.state ?? from;
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
}

/** Any state → RESET and any state → ERR take nothing. */
function findTransition(
  service: ServiceType,
  from: QueuePairState,
  to: QueuePairState,
): Attributes | undefined {
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
  return queuePairStateNames[state] ?? `state ${state}`;
}

function invalid(message: string, attribute: string, expected: string): VerbsError {
  return new VerbsError(`${message}. Expected: ${expected}`, {
    code: 'EINVAL',
    verb: 'modifyQueuePair',
    attribute,
    expected,
  });
}
