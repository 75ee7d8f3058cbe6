import { enumText } from '../spec/enum_names.ts';
import {
  PhysicalCollectBufferState,
  QueuePairState,
  RoomWait,
  SendHold,
  VirtualCollectBufferState,
  enumDescriptions,
  queuePairStateNames,
  refusalNames,
  sendHoldNames,
} from '../spec/index.ts';
import { readCredits } from './credits.ts';
import type { DeviceFunction } from './device_function.ts';
import { isEnabled } from './function_status.ts';
import { blockNamed, readNamed, registerNamed } from './named_registers.ts';
import {
  observeBuffersInUse,
  observeLanes,
  observeQueuePair,
  observeVirtualCollectBuffers,
  type ObservedQueuePair,
} from './observed.ts';

/** The reasons why a queue pair is stalled. */
export interface Why {
  readonly queuePair: ObservedQueuePair;
  /** The reasons in words, the most important first. */
  readonly reasons: readonly string[];
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * Finds the reasons why a queue pair's send queue waits. The control registers show any function's queue pair; another function shows its
 * own, with less about the influence of others.
 * @returns undefined: there is no queue pair with this number
 */
export function whyStalled(device: DeviceFunction, number: number): Why | undefined {
  const queuePair = observeQueuePair(device, number);
  if (queuePair === undefined) return undefined;
  const reasons = [
    ...ofDevice(device),
    ...ofState(queuePair),
    ...ofNumber(queuePair),
    ...ofHold(queuePair),
    ...ofLane(device, queuePair),
    ...ofRoom(queuePair),
    ...ofScheduler(device, queuePair),
    ...ofPeer(queuePair),
  ];
  if (queuePair.waiting === 0 && queuePair.kicked === 0) reasons.push(...ofWriting(device, queuePair));
  return { queuePair, reasons };
}

function ofDevice(device: DeviceFunction): string[] {
  if (isEnabled(device)) return [];
  return ['the device is disabled: nothing is sent or received until its control function enables it'];
}

function ofState({ state }: ObservedQueuePair): string[] {
  const name = enumText('QueuePairState', queuePairStateNames, state);
  switch (state) {
    case QueuePairState.readyToSend:
      return [];
    case QueuePairState.sendQueueDrained:
      return [`it is in ${name}: nothing is sent until it is modified to QueuePairState.readyToSend`];
    case QueuePairState.sendQueueError:
    case QueuePairState.error:
      return [`it is in ${name}: work requests are flushed; reset it, or create another one`];
    case QueuePairState.reset:
    case QueuePairState.init:
    case QueuePairState.readyToReceive:
      return [`it is in ${name}: it sends nothing before QueuePairState.readyToSend`];
    default:
      return [`it is in ${name}, which is not a state: ${String(state satisfies never)}`];
  }
}

function ofNumber({ virtualNumber, bound, timeWait }: ObservedQueuePair): string[] {
  if (!timeWait || bound) return [];
  return [
    `its number 0x${virtualNumber.toString(16)} is in time-wait: packets of its former connection may still come, so it is connected to the same peer when that time is over, or at once with another number (newNumber)`,
  ];
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
  const { doc } = values.find(({ value }) => value === hold)!;
  return [`${sendHoldNames[hold]!}: ${doc[0]!.toLowerCase()}${doc.slice(1).replace(/\.$/, '')}`];
}

const addsCredits = 'give the lane more (hca resources set)';

/** Kicked commands wait for credits, or for the blocks behind them. */
function ofLane(device: DeviceFunction, queuePair: ObservedQueuePair): string[] {
  const { kicked, lane: number } = queuePair;
  if (kicked === 0) return [];
  const place = `${plural(kicked, 'command')} of it ${kicked === 1 ? 'is' : 'are'} on transmit virtual lane ${number}`;
  const lacks = creditsLacking(device, queuePair).join(' and no ');
  if (device.controlPage === undefined)
    return [lacks === '' ? place : `${place}, and no ${lacks} credit is free for its level: ${addsCredits}`];
  const { commands } = observeLanes(device)[number]!;
  if (commands === 0) return [`${place}, all of them started`];
  const behind = `${plural(commands, 'command')} ${commands === 1 ? 'waits' : 'wait'} on its list`;
  return [
    lacks === ''
      ? `${place}; ${behind}`
      : `${place}; ${behind}, and no ${lacks} credit is free for it: ${addsCredits}`,
  ];
}

/** Kinds of credits of which the lane has none free; for a function that cannot see lanes, its level. */
function creditsLacking(device: DeviceFunction, { lane: number, level }: ObservedQueuePair): string[] {
  const { controlPage } = device;
  if (controlPage === undefined) {
    const { execution, completion } = readCredits(device)[level]!;
    return [
      ...(execution.ownFree + execution.sharedFree === 0 ? ['execution'] : []),
      ...(completion.ownFree + completion.sharedFree === 0 ? ['completion'] : []),
    ];
  }
  const lane = observeLanes(device)[number]!;
  const free = (name: string): bigint =>
    readNamed(controlPage, registerNamed(blockNamed('control'), name)).values[0]!;
  return [
    ...(lane.executionCredits === 0 && free('shared_execution_credits') === 0n ? ['execution'] : []),
    ...(lane.completionCredits === 0 && free('shared_completion_credits') === 0n ? ['completion'] : []),
  ];
}

/** The next command is not fetched, because no list has room for it. */
function ofRoom({ roomWait, lane, underlyingFunction }: ObservedQueuePair): string[] {
  switch (roomWait) {
    case RoomWait.none:
      return [];
    case RoomWait.lane:
      return [
        `its next command waits for room on the list of transmit virtual lane ${lane}, where its other commands are: the list is full, or another fetched command waits there for a credit (hca resources set lane${lane}.listSize=…)`,
      ];
    case RoomWait.level:
      return [
        'its next command waits for room on a list of any transmit virtual lane of its level: all are full, or a fetched command waits there for a credit',
      ];
    case RoomWait.function:
      return [
        `its function lacks an entry credit: its maximum number of commands is on lists (hca resources set ${underlyingFunction}.entryCredits=…)`,
      ];
  }
}

function ofScheduler(
  device: DeviceFunction,
  { stopped, scheduled, waiting, roomWait }: ObservedQueuePair,
): string[] {
  if (waiting === 0) return [];
  if (stopped) return ['the scheduler is stopped for it: ring the start slot of a virtual collect buffer'];
  if (!scheduled || roomWait !== RoomWait.none) return [];
  return [
    `${plural(waiting, 'command')} ${waiting === 1 ? 'is' : 'are'} fetched from its send queue by the scheduler in its turn` +
      (isFetching(device) ? '' : '; no dedicated physical collect buffer is free to fetch into'),
  ];
}

/** Whether send_queue_scheduler has a buffer to fetch into; assumed if the function cannot see them. */
function isFetching(device: DeviceFunction): boolean {
  const { controlPage, identity } = device;
  if (controlPage === undefined) return true;
  const { fields } = readNamed(
    controlPage,
    registerNamed(blockNamed('control'), 'dedicated_physical_collect_buffer'),
  );
  return fields
    .slice(identity.managementPhysicalCollectBuffers, identity.dedicatedPhysicalCollectBuffers)
    .some(({ state }) => state === PhysicalCollectBufferState.free);
}

function ofPeer({ unacknowledged, retriesLeft }: ObservedQueuePair): string[] {
  if (unacknowledged === 0) return [];
  return [
    `${plural(unacknowledged, 'command')} ${unacknowledged === 1 ? 'is' : 'are'} executed and not acknowledged by the peer; ${plural(retriesLeft, 'retry').replace('retrys', 'retries')} left`,
  ];
}

/** No work that the device knows of waits: the posted commands may have been lost. */
function ofWriting(device: DeviceFunction, queuePair: ObservedQueuePair): string[] {
  const reasons = device.controlPage === undefined ? ofOwnBuffers(device) : ofBuffers(device, queuePair);
  if (reasons.length > 0 || queuePair.unacknowledged > 0) return reasons;
  return ['all posted work requests are done: the device waits for the next doorbell'];
}

function ofBuffers(device: DeviceFunction, { underlyingFunction }: ObservedQueuePair): string[] {
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
      `virtual collect buffer ${number} of its function is in error (${refusalNames[refusal] ?? refusal}): writes to it are dropped until it is cancelled`,
  );
  if (begun.length > 0) {
    const numbers = begun.map(({ number }) => number).join(', ');
    reasons.push(
      `its function has begun commands and not finished them, in virtual collect buffers ${numbers}`,
    );
  }
  return reasons;
}

/** A function sees which of its buffers are in use, but not their commands. */
function ofOwnBuffers(device: DeviceFunction): string[] {
  const inUse = observeBuffersInUse(device);
  if (inUse.length === 0) return [];
  return [
    `commands are begun and not finished, or refused, in virtual collect buffers ${inUse.join(', ')} of its function`,
  ];
}
