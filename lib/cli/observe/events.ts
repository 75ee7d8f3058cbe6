import type { WatchedEvent } from '../../board/index.ts';
import { EventType, eventTypeNames, refusalNames, type Refusal } from '../../spec/index.ts';
import type { Output } from '../output/output.ts';
import type { Scope } from '../scope.ts';
import { Losses, observe, repeat } from './watching.ts';

type Object = 'queue pair' | 'completion queue' | 'shared receive queue' | 'virtual collect buffer' | 'port';

/** The kind of object that an event's number names; other events name none. */
const objects: Readonly<Partial<Record<EventType, Object>>> = {
  [EventType.completionQueueError]: 'completion queue',
  [EventType.queuePairFatal]: 'queue pair',
  [EventType.queuePairRequestError]: 'queue pair',
  [EventType.queuePairAccessError]: 'queue pair',
  [EventType.communicationEstablished]: 'queue pair',
  [EventType.sendQueueDrained]: 'queue pair',
  [EventType.pathMigrated]: 'queue pair',
  [EventType.pathMigrationError]: 'queue pair',
  [EventType.portActive]: 'port',
  [EventType.portError]: 'port',
  [EventType.lidChange]: 'port',
  [EventType.partitionKeyChange]: 'port',
  [EventType.subnetManagerChange]: 'port',
  [EventType.clientReregister]: 'port',
  [EventType.gidChange]: 'port',
  [EventType.sharedReceiveQueueError]: 'shared receive queue',
  [EventType.sharedReceiveQueueLimitReached]: 'shared receive queue',
  [EventType.queuePairLastWorkQueueEntryReached]: 'queue pair',
  [EventType.virtualCollectBufferError]: 'virtual collect buffer',
  [EventType.halfWrittenCommand]: 'virtual collect buffer',
};

/**
 * `hca events`: asynchronous events of the function that is observed, of all where that is the control function, as they come; in the manner of
 * ibv_asyncwatch. JSON: a line for each: {underlyingFunction, type, reason, offset, object, detail, timestamp}, or {lost}.
 */
export async function events(output: Output, deviceString: string, scope: Scope): Promise<void> {
  const expected = '--device serve:NAME, as hca list shows it';
  const observer = observe(scope, deviceString, 'events', expected);
  const watch = observer.watchEvents();
  const losses = new Losses();
  const { controlPage, underlyingFunction, identity } = observer.device;
  const whose = controlPage === undefined ? `function ${underlyingFunction}` : 'all functions';
  output.text(`${deviceString}: asynchronous events of ${whose}; Ctrl+C ends it\n`);
  await repeat(scope.signal, () => {
    for (const event of watch.take()) {
      output.value({ ...event, type: eventTypeNames[event.type as EventType] ?? event.type });
      output.text(`${eventText(event, identity.clockFrequency)}\n`);
    }
    const lost = losses.since(watch.lost);
    if (lost === 0) return;
    output.value({ lost });
    output.text(`${lost} events lost: they come faster than this command takes them\n`);
  });
}

/** An event in words. @param frequency of the device clock, hertz */
export function eventText(
  { underlyingFunction, type, reason, object, timestamp }: WatchedEvent,
  frequency: number,
): string {
  const kind = type as EventType;
  const of = objects[kind];
  const number = of === 'queue pair' ? `0x${object.toString(16)}` : `${object}`;
  const refusal =
    kind === EventType.virtualCollectBufferError ? `: ${refusalNames[reason as Refusal] ?? reason}` : '';
  const seconds = (Number(timestamp) / frequency).toFixed(6);
  return (
    `${seconds} s  function ${underlyingFunction}  ${eventTypeNames[kind] ?? type} (${type})` +
    `${of === undefined ? '' : `, ${of} ${number}`}${refusal}`
  );
}
