import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  EventType,
  ManagementOpcode,
  ManagementStatus,
  RegionType,
  UNDERLYING_FUNCTION_EVENTS_DROPPED_OFFSET,
  UNDERLYING_FUNCTION_EVENT_QUEUE_ARM_OFFSET,
  encode,
  type decode,
} from '../../lib/spec/index.ts';
import { Device, Management } from '../helpers/device.ts';

const entryBytes = 32;
const never = 0xffff_ffff_ffff_ffffn;

interface Settings {
  underlyingFunction?: number;
  eventQueue?: number;
  entriesLog2?: number;
  moderationCount?: number;
  moderationTime?: number; // microseconds
}

function makeDevice(): Device {
  const device = new Device({ queuePairs: 8, pageTableEntries: 1024 });
  device.enable();
  return device;
}

/** A host's side of one event queue: its pages, head record and what it has read. */
class HostEventQueue {
  readonly device: Device;
  readonly underlyingFunction: number;
  readonly eventQueue: number;
  readonly entries: number;
  readonly status: number;
  head = 0;
  time = 0n;
  private readonly management: Management;
  private readonly log2: number;
  private readonly pages: number[];
  private readonly headRecord: number;
  /** Answers to management commands are events of event queue 0, which does not exist here. */
  private droppedOfManagement = 0;

  constructor(
    { underlyingFunction = 1, eventQueue = 2, entriesLog2 = 2, ...moderation }: Settings,
    device = makeDevice(),
    management = new Management(device, underlyingFunction),
  ) {
    this.device = device;
    this.management = management;
    this.underlyingFunction = underlyingFunction;
    this.eventQueue = eventQueue;
    this.log2 = entriesLog2;
    this.entries = 1 << entriesLog2;
    this.headRecord = device.allocate(8);
    // Pages out of order: entry i is where the page list says.
    const count = Math.ceil((this.entries * entryBytes) / 4096);
    this.pages = Array.from({ length: count }, () => device.allocate(4096)).reverse();
    const page = (offset: number): bigint => device.address(offset) >> 12n;
    this.status = this.manage(ManagementOpcode.createEventQueue, {}, [
      encode('create_event_queue_input', {
        event_queue: eventQueue,
        entries_log2: entriesLog2,
        pages: count,
        moderation_count: moderation.moderationCount ?? 0,
        moderation_time: moderation.moderationTime ?? 0,
        head_address: device.address(this.headRecord),
      }),
      ...this.pages.map((offset) => encode('page_table_entry', { valid: 1, page: page(offset) })),
    ]);
  }

  /** Creates another queue of the function; returns the status. */
  another(settings: Settings): number {
    return new HostEventQueue(
      { underlyingFunction: this.underlyingFunction, ...settings },
      this.device,
      this.management,
    ).status;
  }

  destroy(): number {
    return this.manage(ManagementOpcode.destroyEventQueue, { input_modifier: this.eventQueue });
  }

  report(object: number, type: number = EventType.completion, eventQueue = this.eventQueue): void {
    this.device.port.report(
      encode('event_unit', {
        type,
        underlying_function: this.underlyingFunction,
        event_queue: eventQueue,
        object,
      }),
    );
  }

  /** The entry at the host's head, or undefined if its phase says that it is not written yet. */
  peek(): ReturnType<typeof decode> | undefined {
    const index = this.head & (this.entries - 1);
    const offset = this.pages[(index * entryBytes) >> 12]! + ((index * entryBytes) & 4095);
    const entry = this.device.get(offset, 'event_queue_entry', entryBytes);
    const phase = ((this.head >>> this.log2) & 1) ^ 1;
    return entry['phase'] === phase ? entry : undefined;
  }

  /** Consumes the entry at the head and reports the new head to the device. */
  take(): ReturnType<typeof decode> | undefined {
    const entry = this.peek();
    if (entry !== undefined) this.tellHead(++this.head);
    return entry;
  }

  tellHead(head: number): void {
    this.device.view.setUint32(this.headRecord, head, true);
  }

  arm(eventQueue = this.eventQueue): void {
    const { underlyingFunction: page } = this;
    this.device.write32(
      RegionType.underlyingFunction,
      page,
      UNDERLYING_FUNCTION_EVENT_QUEUE_ARM_OFFSET,
      eventQueue,
    );
  }

  advance(microseconds: number): void {
    this.time += BigInt(microseconds) * 1000n;
    this.device.port.setTime(this.time);
    this.device.runUntilIdle();
  }

  get interrupts(): number {
    return this.device.port.interrupts(this.underlyingFunction, this.eventQueue);
  }

  get dropped(): number {
    return this.allDropped - this.droppedOfManagement;
  }

  private get allDropped(): number {
    const { device, underlyingFunction: page } = this;
    return Number(
      device.read64(RegionType.underlyingFunction, page, UNDERLYING_FUNCTION_EVENTS_DROPPED_OFFSET),
    );
  }

  /** Executes a management command; returns its status. */
  private manage(...command: Parameters<Management['execute']>): number {
    const before = this.allDropped;
    const { status } = this.management.execute(...command);
    this.droppedOfManagement += this.allDropped - before;
    return Number(status);
  }
}

describe('event_queue', () => {
  it('writes entries in order, with phase, sequence, time and lost count', () => {
    const host = new HostEventQueue({});
    for (let round = 0; round < 5; ++round) {
      host.advance(1);
      for (let i = 0; i < 6; ++i) host.report(round * 6 + i);
      // Four of the six have room; the next entry reports the two lost ones.
      for (let i = 0; i < 4; ++i)
        expect(host.take()).toMatchObject({
          type: EventType.completion,
          object: round * 6 + i,
          sequence: round * 4 + i,
          lost: i === 0 && round > 0 ? 2 : 0,
          timestamp: host.time,
        });
      expect(host.take()).toBeUndefined();
    }
    expect(host.dropped).toBe(10);
  });

  it('wraps through pages that are not contiguous', () => {
    const host = new HostEventQueue({ entriesLog2: 9 });
    for (let i = 0; i < 2000; ++i) {
      host.report(i);
      expect(host.take()).toMatchObject({ object: i, sequence: i, lost: 0 });
    }
  });

  it('drops and counts the events of a queue that does not exist', () => {
    const host = new HostEventQueue({});
    host.report(1, EventType.completion, 3);
    expect(host.dropped).toBe(1);
    expect(host.peek()).toBeUndefined();
    expect(host.destroy()).toBe(ManagementStatus.success);
    expect(host.destroy()).toBe(ManagementStatus.badObject);
    host.report(2);
    expect(host.dropped).toBe(2);
    expect(host.peek()).toBeUndefined();
  });

  it('refuses numbers and sizes out of range, and a queue that exists', () => {
    const host = new HostEventQueue({});
    expect(host.status).toBe(ManagementStatus.success);
    expect(host.another({})).toBe(ManagementStatus.inUse);
    const other = new HostEventQueue({ underlyingFunction: 2 }, host.device);
    expect(other.status).toBe(ManagementStatus.success);
    for (const wrong of [{ eventQueue: 8 }, { entriesLog2: 0 }, { entriesLog2: 16 }])
      expect(other.another({ eventQueue: 3, ...wrong })).toBe(ManagementStatus.badParameter);
  });

  it('interrupts once for each arming', () => {
    const host = new HostEventQueue({});
    host.report(0);
    expect(host.interrupts).toBe(0);
    host.take();
    host.arm();
    expect(host.interrupts).toBe(0);
    host.report(1);
    host.report(2);
    expect(host.interrupts).toBe(1);
  });

  it('interrupts at once when entries lie beyond the head', () => {
    const host = new HostEventQueue({ moderationCount: 3, moderationTime: 100 });
    host.report(0);
    host.arm();
    expect(host.interrupts).toBe(1);
    host.take();
    host.arm();
    expect(host.interrupts).toBe(1);
  });

  it('does not arm a queue that does not exist', () => {
    const host = new HostEventQueue({});
    for (const eventQueue of [3, 8, 255]) host.arm(eventQueue);
    expect(host.device.port.verify()).toBeNull();
    expect(host.interrupts).toBe(0);
  });

  it('delays an interrupt until the count or the time', () => {
    const host = new HostEventQueue({ entriesLog2: 4, moderationCount: 3, moderationTime: 100 });
    host.arm();
    host.report(0);
    expect(host.device.port.nextDeadline()).toBe(100_000n);
    host.advance(99);
    expect(host.interrupts).toBe(0);
    host.advance(1);
    expect(host.interrupts).toBe(1);
    expect(host.device.port.nextDeadline()).toBe(never);
    host.take();
    host.arm();
    host.report(1);
    host.report(2);
    expect(host.interrupts).toBe(1);
    host.report(3);
    expect(host.interrupts).toBe(2);
    expect(host.device.port.nextDeadline()).toBe(never);
  });

  it('writes the error of an object once while the event is unread', () => {
    const host = new HostEventQueue({ entriesLog2: 3 });
    host.report(7, EventType.queuePairFatal);
    host.report(7, EventType.queuePairFatal);
    host.report(8, EventType.queuePairFatal);
    host.report(7, EventType.queuePairAccessError);
    host.report(5);
    host.report(5);
    const objects = [];
    for (let entry = host.take(); entry !== undefined; entry = host.take()) objects.push(entry['object']);
    expect(objects).toEqual([7, 8, 7, 5, 5]);
    expect(host.dropped).toBe(0);
    host.report(7, EventType.queuePairFatal);
    expect(host.take()).toMatchObject({ object: 7, type: EventType.queuePairFatal });
  });

  it('counts events lost to DMA faults, and continues', () => {
    const host = new HostEventQueue({});
    host.device.port.faultAccess(0);
    host.report(0);
    expect(host.dropped).toBe(1);
    host.report(1);
    expect(host.take()).toMatchObject({ object: 1, sequence: 0, lost: 1 });
  });

  it('keeps its head if the record is garbage', () => {
    const host = new HostEventQueue({ entriesLog2: 1 });
    host.report(0);
    host.report(1);
    host.tellHead(77);
    host.report(2);
    expect(host.dropped).toBe(1);
    expect(host.take()).toMatchObject({ object: 0 });
  });

  it('removes the queues of a reset function only', () => {
    const first = new HostEventQueue({ moderationCount: 2, moderationTime: 10 });
    const second = new HostEventQueue(
      { underlyingFunction: 2, moderationCount: 2, moderationTime: 20 },
      first.device,
    );
    first.arm();
    second.arm();
    first.report(1);
    second.report(1);
    first.device.port.resetFunction(1);
    expect(first.device.port.verify()).toBeNull();
    second.advance(20);
    expect([first.interrupts, second.interrupts]).toEqual([0, 1]);
    first.report(2);
    expect(first.dropped).toBe(1);
  });

  type Action = { do: 'report' | 'take' | 'arm' | 'advance'; times: number };
  const action: fc.Arbitrary<Action> = fc.record({
    do: fc.constantFrom('report', 'take', 'arm', 'advance'),
    times: fc.integer({ min: 1, max: 12 }),
  });

  it('counts every lost event, and interrupts like a plain model', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 10 }),
        fc.array(action, { maxLength: 80 }),
        (entriesLog2, moderationCount, moderationTime, actions) => {
          const host = new HostEventQueue({ entriesLog2, moderationCount, moderationTime });
          const written: { object: number; lost: number }[] = [];
          let reported = 0;
          let lost = 0;
          let dropped = 0;
          let armed = false;
          let sinceArmed = 0;
          let due: bigint | undefined;
          let interrupts = 0;
          const interrupt = (): void => {
            armed = false;
            due = undefined;
            ++interrupts;
          };
          const steps = {
            report: () => {
              host.report(reported);
              if (written.length === host.head + host.entries) {
                ++lost;
                ++dropped;
              } else {
                written.push({ object: reported, lost });
                lost = 0;
                if (armed) {
                  ++sinceArmed;
                  if (sinceArmed === moderationCount || (moderationCount === 0 && moderationTime === 0))
                    interrupt();
                  else if (moderationTime > 0) due ??= host.time + BigInt(moderationTime) * 1000n;
                }
              }
              ++reported;
            },
            take: () => {
              const entry = host.take();
              const expected = entry === undefined ? undefined : written[host.head - 1];
              if (entry === undefined) expect(host.head).toBe(written.length);
              else expect(entry).toMatchObject({ ...expected, sequence: host.head - 1 });
            },
            arm: () => {
              host.arm();
              armed = true;
              sinceArmed = 0;
              due = undefined;
              if (written.length !== host.head) interrupt();
            },
            advance: () => {
              host.advance(1);
              if (due !== undefined && due <= host.time) interrupt();
            },
          };
          for (const { do: name, times } of actions)
            for (let i = 0; i < times; ++i) {
              steps[name]();
              expect(host.interrupts).toBe(interrupts);
              expect(host.dropped).toBe(dropped);
              expect(host.device.port.nextDeadline()).toBe(due ?? never);
              expect(host.device.port.verify()).toBeNull();
            }
        },
      ),
    );
  });
});
