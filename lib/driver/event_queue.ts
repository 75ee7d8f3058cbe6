import type { DmaMemory } from '../board/addon.ts';
import {
  EVENT_QUEUE_ENTRY_BYTES,
  EVENT_QUEUE_ENTRY_PHASE_BYTE,
  EVENT_QUEUE_ENTRY_PHASE_SHIFT,
  EventType,
  ManagementOpcode,
  PAGE_BYTES,
  RING_HEAD_BYTES,
  UNDERLYING_FUNCTION_EVENT_QUEUE_ARM_OFFSET,
  decode,
  encode,
  eventTypeNames,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { DeviceRing, type RingEntry } from './device_ring.ts';
import { dword } from './dword.ts';
import type { ManagementQueue } from './management_queue.ts';
import { pageList } from './page_list.ts';

const eventEntry: RingEntry = {
  bytes: EVENT_QUEUE_ENTRY_BYTES,
  phaseByte: EVENT_QUEUE_ENTRY_PHASE_BYTE,
  phaseShift: EVENT_QUEUE_ENTRY_PHASE_SHIFT,
};

/** An asynchronous event from the device (event_queue_entry). */
export interface DeviceEvent {
  /** Kind of event. */
  readonly type: EventType;
  /** Name of the type as in code: `virtualCollectBufferError`. */
  readonly name: string;
  /** Detail that depends on the type: a refusal for an error of a VCB. */
  readonly reason: number;
  /** For an error of a VCB: offset of the write, bytes. */
  readonly offset: number;
  /** Number of the queue pair, completion queue or VCB. */
  readonly object: number;
  /** Depends on the type: an address, a sequence number. */
  readonly detail: bigint;
  /** Device clock, ticks. */
  readonly timestamp: bigint;
  /** Number of events lost before this one because the queue was full. */
  readonly lost: number;
}

/** An event queue of a function: the device writes entries, and the host detects them by the phase bit. */
export class EventQueue {
  readonly number: number;
  private readonly device: DeviceFunction;
  private readonly ring: DmaMemory;
  private readonly head: DmaMemory;
  private readonly bytes: Uint8Array;
  private readonly entries: DeviceRing;
  private readonly collected: DeviceEvent[] = [];
  /** Called with each event when it is found. */
  onEvent: ((event: DeviceEvent) => void) | undefined;

  /**
   * Creates an event queue.
   * @param number 0 gets the asynchronous events; the queue signals MSI-X vector `number`
   * @throws VerbsError the device's error
   */
  constructor(device: DeviceFunction, management: ManagementQueue, number: number, entriesLog2: number) {
    this.device = device;
    this.number = number;
    this.ring = device.allocate(EVENT_QUEUE_ENTRY_BYTES << entriesLog2);
    this.head = device.allocate(RING_HEAD_BYTES);
    this.bytes = new Uint8Array(this.ring.buffer);
    this.entries = new DeviceRing(this.ring, this.head, 1 << entriesLog2, eventEntry);
    const pages = Math.ceil((EVENT_QUEUE_ENTRY_BYTES << entriesLog2) / PAGE_BYTES);
    management.execute({
      verb: 'createEventQueue',
      opcode: ManagementOpcode.createEventQueue,
      inputFormat: 'create_event_queue_input',
      input: [
        encode('create_event_queue_input', {
          event_queue: number,
          entries_log2: entriesLog2,
          pages,
          head_address: this.head.address,
        }),
        pageList(this.ring),
      ],
    });
  }

  /** Takes the oldest event; undefined: there is none. Never waits. */
  poll(): DeviceEvent | undefined {
    this.collect();
    return this.collected.shift();
  }

  /** Takes all entries from the ring, so that it does not fill up. Skips answers to management commands, which a verb awaits. */
  collect(): void {
    while (this.entries.isWritten) this.take();
  }

  /** Queues an event that did not come through the ring, or was just taken from it. */
  report(event: DeviceEvent): void {
    this.collected.push(event);
    this.onEvent?.(event);
  }

  private take(): void {
    const { entries } = this;
    const at = entries.place * dword;
    const event = eventOf(this.bytes.slice(at, at + EVENT_QUEUE_ENTRY_BYTES));
    entries.next();
    entries.tellRead();
    if (event.type !== EventType.managementCompletion || event.lost !== 0) this.report(event);
  }

  /** Requests one interrupt: at the next event, or at once if the ring holds an event that was not taken. */
  arm(): void {
    this.device.page.write32(UNDERLYING_FUNCTION_EVENT_QUEUE_ARM_OFFSET, this.number);
  }
}

function eventOf(bytes: Uint8Array): DeviceEvent {
  const entry = decode('event_queue_entry', bytes);
  const type = Number(entry['type']) as EventType;
  return {
    type,
    name: eventTypeNames[type] ?? `event ${type}`,
    reason: Number(entry['reason']),
    offset: Number(entry['offset']),
    object: Number(entry['object']),
    detail: BigInt(entry['detail'] as number | bigint),
    timestamp: BigInt(entry['timestamp'] as number | bigint),
    lost: Number(entry['lost']),
  };
}
