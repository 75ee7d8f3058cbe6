import type { WatchedEvent } from '../board/index.ts';
import { EventType, eventTypeNames, refusalNames, type Refusal } from '../spec/index.ts';

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
