import {
  QueuePairState,
  SendHold,
  VirtualCollectBufferState,
  enumDescriptions,
  queuePairStateNames,
  refusalNames,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { blockNamed, readNamed, registerNamed } from './named_registers.ts';
import {
  controlPageOf,
  observeLanes,
  observeQueuePair,
  observeVirtualCollectBuffers,
  type ObservedQueuePair,
} from './observed.ts';

/** Why a queue pair does not go on. */
export interface Why {
  readonly queuePair: ObservedQueuePair;
  /** In words, what counts most first. */
  readonly reasons: readonly string[];
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * What a queue pair's send queue waits for, as the control registers show it.
 * @returns undefined: there is no queue pair of this number
 * @throws VerbsError EPERM: not the control function
 */
export function whyStalled(device: DeviceFunction, number: number): Why | undefined {
  const queuePair = observeQueuePair(device, number);
  if (queuePair === undefined) return undefined;
  const reasons = [
    ...ofState(queuePair),
    ...ofHold(queuePair),
    ...ofLane(device, queuePair),
    ...ofScheduler(device, queuePair),
    ...ofPeer(queuePair),
  ];
  if (queuePair.waiting === 0 && queuePair.kicked === 0) reasons.push(...ofWriting(device, queuePair));
  return { queuePair, reasons };
}

function ofState({ state }: ObservedQueuePair): string[] {
  const name = queuePairStateNames[state] ?? `state ${state}`;
  switch (state) {
    case QueuePairState.readyToSend:
      return [];
    case QueuePairState.sendQueueDrained:
      return [`it is in ${name}: nothing is sent until it is modified to ready_to_send`];
    case QueuePairState.sendQueueError:
    case QueuePairState.error:
      return [`it is in ${name}: work requests are flushed; reset it, or make another one`];
    default:
      return [`it is in ${name}: it sends nothing before ready_to_send`];
  }
}

function ofHold({
  hold,
  receiverNotReadyWait,
  receiverNotReadyRetriesLeft,
  waiting,
}: ObservedQueuePair): string[] {
  if (receiverNotReadyWait) {
    const left =
      receiverNotReadyRetriesLeft === 7 ? 'for ever' : plural(receiverNotReadyRetriesLeft, 'time') + ' more';
    return [`the peer has no receive work request and asked to wait; it is asked again ${left}`];
  }
  if (hold === SendHold.none || waiting === 0) return [];
  const { values } = enumDescriptions.find(({ name }) => name === 'send_hold')!;
  const { name, doc } = values.find(({ value }) => value === hold)!;
  return [`${name}: ${doc[0]!.toLowerCase()}${doc.slice(1).replace(/\.$/, '')}`];
}

/** What is kicked waits for credits, or for the blocks behind them. */
function ofLane(device: DeviceFunction, { kicked, lane: number }: ObservedQueuePair): string[] {
  if (kicked === 0) return [];
  const lane = observeLanes(device)[number]!;
  const page = controlPageOf(device);
  const free = (name: string): bigint =>
    readNamed(page, registerNamed(blockNamed('control'), name)).values[0]!;
  const lacks = [
    ...(lane.executionCredits === 0 && free('shared_execution_credits') === 0n ? ['execution'] : []),
    ...(lane.completionCredits === 0 && free('shared_completion_credits') === 0n ? ['completion'] : []),
  ];
  const place = `${plural(kicked, 'command')} of it ${kicked === 1 ? 'is' : 'are'} on transmit virtual lane ${number}`;
  if (lane.commands === 0) return [`${place}, all of them started`];
  const behind = `${plural(lane.commands, 'command')} ${lane.commands === 1 ? 'waits' : 'wait'} on its list`;
  return [
    lacks.length === 0
      ? `${place}; ${behind}`
      : `${place}; ${behind}, and no ${lacks.join(' and no ')} credit is free for it: give the lane more (hca resources set)`,
  ];
}

function ofScheduler(device: DeviceFunction, queuePair: ObservedQueuePair): string[] {
  const { stopped, scheduled, waiting } = queuePair;
  if (waiting === 0) return [];
  if (stopped) return ['the scheduler is stopped for it: ring the start slot of a virtual collect buffer'];
  if (!scheduled) return [];
  const shared = readNamed(
    controlPageOf(device),
    registerNamed(blockNamed('control'), 'physical_collect_buffers_shared'),
  );
  const none = shared.fields[0]!['available'] === 0;
  return [
    `${plural(waiting, 'command')} ${waiting === 1 ? 'is' : 'are'} fetched from its send queue by the scheduler in its turn` +
      (none ? '; no physical collect buffer that all functions share is free' : ''),
  ];
}

function ofPeer({ unacknowledged, retriesLeft }: ObservedQueuePair): string[] {
  if (unacknowledged === 0) return [];
  return [
    `${plural(unacknowledged, 'command')} ${unacknowledged === 1 ? 'is' : 'are'} executed and not acknowledged by the peer; ${plural(retriesLeft, 'retry').replace('retrys', 'retries')} left`,
  ];
}

/** Nothing that the device knows of waits: what was posted may not have come through. */
function ofWriting(
  device: DeviceFunction,
  { underlyingFunction, unacknowledged }: ObservedQueuePair,
): string[] {
  const own = observeVirtualCollectBuffers(device).filter(
    (buffer) => buffer.underlyingFunction === underlyingFunction,
  );
  const failed = own.filter(({ state }) => state === VirtualCollectBufferState.error);
  const begun = own.filter(
    ({ state }) =>
      state === VirtualCollectBufferState.collecting || state === VirtualCollectBufferState.sendQueueMode,
  );
  const reasons = failed.map(
    ({ number, refusal }) =>
      `virtual collect buffer ${number} of its function is in error (${refusalNames[refusal] ?? refusal}): what is written there is dropped until it is cancelled`,
  );
  if (begun.length > 0) {
    const numbers = begun.map(({ number }) => number).join(', ');
    reasons.push(
      `its function has begun commands and not finished them, in virtual collect buffers ${numbers}`,
    );
  }
  if (reasons.length > 0 || unacknowledged > 0) return reasons;
  return ['nothing is posted that is not done: the device waits for the next doorbell'];
}
