import { VerbsError } from '../driver/errors.ts';
import type { QueuePairAttributes } from '../driver/queue_pair_attributes.ts';
import { QueuePairState, ServiceType, queuePairStateNames } from '../spec/index.ts';

type Attribute = Exclude<keyof QueuePairAttributes, 'state' | 'currentState'>;

/** What a transition of a queue pair takes beside the states (InfiniBand volume 1, 11.2.5.2, modify queue pair). */
interface Transition {
  readonly from: QueuePairState;
  readonly to: QueuePairState;
  readonly required: readonly Attribute[];
  readonly optional: readonly Attribute[];
}

const { reset, init, readyToReceive, readyToSend, sendQueueDrained, sendQueueError, error } = QueuePairState;

// Any state → RESET and any state → ERR take nothing, and are not listed.

const reliableConnection: readonly Transition[] = [
  { from: reset, to: init, required: ['partitionKeyIndex', 'port', 'accessFlags'], optional: [] },
  { from: init, to: init, required: [], optional: ['partitionKeyIndex', 'port', 'accessFlags'] },
  {
    from: init,
    to: readyToReceive,
    required: [
      'addressVector',
      'pathMtu',
      'destinationQueuePair',
      'receivePsn',
      'maxDestinationReadAtomic',
      'minReceiverNotReadyTimer',
    ],
    optional: ['partitionKeyIndex', 'accessFlags'],
  },
  {
    from: readyToReceive,
    to: readyToSend,
    required: ['sendPsn', 'timeout', 'retryCount', 'receiverNotReadyRetry', 'maxReadAtomic'],
    optional: ['accessFlags', 'minReceiverNotReadyTimer'],
  },
  {
    from: readyToSend,
    to: readyToSend,
    required: [],
    optional: ['accessFlags', 'minReceiverNotReadyTimer'],
  },
  { from: readyToSend, to: sendQueueDrained, required: [], optional: ['drainedEvent'] },
  {
    from: sendQueueDrained,
    to: sendQueueDrained,
    required: [],
    optional: [
      'addressVector',
      'partitionKeyIndex',
      'port',
      'timeout',
      'retryCount',
      'receiverNotReadyRetry',
      'maxReadAtomic',
      'maxDestinationReadAtomic',
      'accessFlags',
      'minReceiverNotReadyTimer',
    ],
  },
  {
    from: sendQueueDrained,
    to: readyToSend,
    required: [],
    optional: ['accessFlags', 'minReceiverNotReadyTimer'],
  },
];

const unreliableConnection: readonly Transition[] = [
  { from: reset, to: init, required: ['partitionKeyIndex', 'port', 'accessFlags'], optional: [] },
  { from: init, to: init, required: [], optional: ['partitionKeyIndex', 'port', 'accessFlags'] },
  {
    from: init,
    to: readyToReceive,
    required: ['addressVector', 'pathMtu', 'destinationQueuePair', 'receivePsn'],
    optional: ['partitionKeyIndex', 'accessFlags'],
  },
  { from: readyToReceive, to: readyToSend, required: ['sendPsn'], optional: ['accessFlags'] },
  { from: readyToSend, to: readyToSend, required: [], optional: ['accessFlags'] },
  { from: readyToSend, to: sendQueueDrained, required: [], optional: ['drainedEvent'] },
  {
    from: sendQueueDrained,
    to: sendQueueDrained,
    required: [],
    optional: ['addressVector', 'partitionKeyIndex', 'accessFlags'],
  },
  { from: sendQueueDrained, to: readyToSend, required: [], optional: ['accessFlags'] },
  { from: sendQueueError, to: readyToSend, required: [], optional: ['accessFlags'] },
];

const unreliableDatagram: readonly Transition[] = [
  { from: reset, to: init, required: ['partitionKeyIndex', 'port', 'queueKey'], optional: [] },
  { from: init, to: init, required: [], optional: ['partitionKeyIndex', 'port', 'queueKey'] },
  { from: init, to: readyToReceive, required: [], optional: ['partitionKeyIndex', 'queueKey'] },
  { from: readyToReceive, to: readyToSend, required: ['sendPsn'], optional: ['queueKey'] },
  { from: readyToSend, to: readyToSend, required: [], optional: ['queueKey'] },
  { from: readyToSend, to: sendQueueDrained, required: [], optional: ['drainedEvent'] },
  {
    from: sendQueueDrained,
    to: sendQueueDrained,
    required: [],
    optional: ['partitionKeyIndex', 'queueKey'],
  },
  { from: sendQueueDrained, to: readyToSend, required: [], optional: ['queueKey'] },
  { from: sendQueueError, to: readyToSend, required: [], optional: ['queueKey'] },
];

/** By service; there are no queue pairs of reliable datagram. */
const transitions: Readonly<Record<ServiceType, readonly Transition[]>> = {
  [ServiceType.reliableConnection]: reliableConnection,
  [ServiceType.unreliableConnection]: unreliableConnection,
  [ServiceType.reliableDatagram]: [],
  [ServiceType.unreliableDatagram]: unreliableDatagram,
};

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
  const given = (Object.keys(attributes) as (keyof QueuePairAttributes)[]).filter(
    (name): name is Attribute =>
      name !== 'state' && name !== 'currentState' && attributes[name] !== undefined,
  );
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

function findTransition(
  service: ServiceType,
  from: QueuePairState,
  to: QueuePairState,
): Transition | undefined {
  if (to === reset || to === error) return { from, to, required: [], optional: [] };
  return transitions[service].find((each) => each.from === from && each.to === to);
}

function targets(service: ServiceType, from: QueuePairState): QueuePairState[] {
  const listed = transitions[service].filter((each) => each.from === from);
  return [...listed.map(({ to }) => to), reset, error];
}

function describe({ required, optional }: Transition): string {
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
