import { loadTestAddon } from '../helpers/test_addon.ts';
import type { HostMethods } from '../helpers/hosted_port.ts';

/** native/test/event_queue_port.cpp */
export interface EventQueuePort extends HostMethods {
  create(underlyingFunction: number, input: Uint8Array, pages: readonly bigint[]): number;
  destroy(underlyingFunction: number, eventQueue: number): boolean;
  arm(underlyingFunction: number, eventQueue: number): void;
  report(eventUnit: Uint8Array): void;
  step(): boolean;
  nextDeadline(): bigint;
  resetFunction(underlyingFunction: number): void;
  /** events_dropped of the function. */
  dropped(underlyingFunction: number): number;
  /** The contradiction in the block's state, or null. */
  verify(): string | null;
}

const addon = loadTestAddon() as { EventQueuePort: new (options: { memoryBytes: number }) => EventQueuePort };

/** Event queues of their own. */
export function makeEventQueues(): EventQueuePort {
  return new addon.EventQueuePort({ memoryBytes: 1 << 20 });
}
