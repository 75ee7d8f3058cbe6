import {
  ManagementOpcode,
  PAGE_BYTES,
  QUEUE_ENTRIES_MAXIMUM,
  SHARED_RECEIVE_QUEUE_ATTRIBUTES_BYTES,
  decode,
  encode,
} from '../spec/index.ts';
import { checkRange, invalid } from './arguments.ts';
import type { VerbsError } from './errors.ts';
import type { HcaDriver } from './hca_driver.ts';
import { pageList } from './page_list.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { ReceiveArea, type ReceiveQueueSizes } from './receive_area.ts';
import { ReceivePoster } from './receive_poster.ts';
import type { WorkRequestIdHolder } from './work_request_ids.ts';

/** How a shared receive queue is made. */
export interface SharedReceiveQueueOptions extends ReceiveQueueSizes {
  readonly protectionDomain: ProtectionDomain;
  /** The device reports once when fewer work requests than this are left; 0: never. */
  readonly limit?: number;
}

/** Attributes of a shared receive queue that can be changed; the others stay. */
export interface SharedReceiveQueueChange {
  readonly limit?: number | undefined;
  /** Work requests that it takes; as in {@link ReceiveQueueSizes}. */
  readonly entries?: number | undefined;
}

/** State of a shared receive queue in the device. */
export interface SharedReceiveQueueQuery {
  /** 0: no event is asked for, or it was reported. */
  readonly limit: number;
  /** The device takes nothing from it any more. */
  readonly failed: boolean;
}

const changing = {
  verb: 'modifySharedReceiveQueue',
  names: ['maxWorkRequests', 'maxScatterEntries'],
} as const;
/** Numbers that work requests can have. */
const sequenceNumbers = 0x1_0000;
const noPlace = 0xffff;

/**
 * A shared receive queue in the device, and its memory. Receives that queue pairs take from it complete in any order: an entry is free
 * when its own work request is completed, whichever reference named it.
 */
export class SharedReceiveQueue extends ReceivePoster {
  /** Index and generation, 24 bits. */
  readonly number: number;
  private memory: ReceiveArea;
  /** Work requests that it takes, as many as there are places in its memory, or fewer. */
  private size: number;
  private readonly driver: HcaDriver;
  /** By sequence number: the place in the area of the entry of a work request that is posted and not completed. */
  private readonly placeOf = new Uint16Array(sequenceNumbers).fill(noPlace);
  /** Places that are free, the first `freeCount`. */
  private free: Uint16Array;
  private freeCount: number;
  private isClosed = false;

  /** @throws VerbsError EINVAL: a size beyond what the device has; ENOMEM: none is left */
  constructor(driver: HcaDriver, { protectionDomain, limit = 0, ...sizes }: SharedReceiveQueueOptions) {
    super();
    this.driver = driver;
    const verb = 'createSharedReceiveQueue';
    const area = new ReceiveArea(driver.device, sizes, {
      verb,
      names: ['maxWorkRequests', 'maxScatterEntries'],
    });
    this.memory = area;
    this.size = area.entries;
    this.freeCount = area.entries;
    this.free = Uint16Array.from({ length: area.entries }, (_, index) => area.entries - 1 - index);
    try {
      this.number = driver.management.execute({
        verb,
        opcode: ManagementOpcode.createSharedReceiveQueue,
        inputFormat: 'create_shared_receive_queue_input',
        input: [
          encode('create_shared_receive_queue_input', {
            queue_log2: area.entriesLog2,
            protection_domain: protectionDomain.number,
            queue_pages: area.references.buffer.byteLength / PAGE_BYTES,
            entry_pages: area.entryArea.buffer.byteLength / PAGE_BYTES,
            limit,
            tail_address: area.tail.address,
          }),
          pageList(area.references),
          pageList(area.entryArea),
        ],
      }).number;
    } catch (error) {
      area.free();
      throw error;
    }
  }

  /** Work requests that it takes. */
  get capacity(): number {
    return this.size;
  }

  override get area(): ReceiveArea {
    return this.memory;
  }

  /** Most entries of a scatter list. */
  get scatterEntries(): number {
    return this.area.scatterEntries;
  }

  /** Work requests that are posted and not completed. */
  get outstanding(): number {
    return this.area.entries - this.freeCount;
  }

  /**
   * The work request of this number is completed, and its entry free.
   * @param holder gets the wrId of the request, where it is wanted
   */
  completed(sequenceNumber: number, holder?: WorkRequestIdHolder): void {
    const place = this.placeOf[sequenceNumber]!;
    if (place === noPlace) return;
    if (holder !== undefined) this.area.wrIds.get(place, holder);
    this.placeOf[sequenceNumber] = noPlace;
    this.free[this.freeCount++] = place;
  }

  /**
   * Asks for the limit event, once: at once if fewer are left already; 0: for none. Makes the queue larger or smaller; what is
   * posted stays. A queue that was made smaller keeps its memory: the device may still be reading entries anywhere in it.
   * @throws VerbsError EINVAL: more work requests are posted than it would take, or the limit is more; ENOMEM: no page table is
   * left. Nothing is changed then.
   */
  modify({ limit, entries = this.size }: SharedReceiveQueueChange): void {
    checkRange(changing.verb, changing.names[0], entries, 1, QUEUE_ENTRIES_MAXIMUM);
    const size = 1 << Math.ceil(Math.log2(entries));
    // An armed limit never exceeds the posted receives, because its event would already have been reported.
    if (size < this.outstanding) throw this.tooSmall(size);
    if (limit !== undefined) checkRange(changing.verb, 'limit', limit, 0, size);
    if (size > this.memory.entries) this.grow(size, limit);
    else if (limit !== undefined) this.change({ limit });
    this.size = size;
  }

  query(): SharedReceiveQueueQuery {
    const { output } = this.driver.management.execute({
      verb: 'querySharedReceiveQueue',
      opcode: ManagementOpcode.querySharedReceiveQueue,
      object: this.number,
      outputBytes: SHARED_RECEIVE_QUEUE_ATTRIBUTES_BYTES,
    });
    const { limit, failed } = decode('shared_receive_queue_attributes', output);
    return { limit: Number(limit), failed: failed === 1 };
  }

  /** It is destroyed: what was posted to it is the user's again. */
  get closed(): boolean {
    return this.isClosed;
  }

  /** Destroys the queue and frees its memory. @throws VerbsError EBUSY: a queue pair receives from it */
  destroy(): void {
    this.driver.management.execute({
      verb: 'destroySharedReceiveQueue',
      opcode: ManagementOpcode.destroySharedReceiveQueue,
      object: this.number,
    });
    this.isClosed = true;
    this.area.free();
  }

  /** Gives the device memory of more entries, and the limit with it, in one command. */
  private grow(entries: number, limit: number | undefined): void {
    const larger = this.memory.grown(entries, this.next, changing);
    try {
      this.change(
        {
          ...(limit === undefined ? { keep_limit: 1 } : { limit }),
          queue_log2: larger.entriesLog2,
          entry_pages: larger.entryArea.buffer.byteLength / PAGE_BYTES,
        },
        larger,
      );
    } catch (error) {
      larger.freeEntries();
      throw error;
    }
    const added = Uint16Array.from(
      { length: entries - this.memory.entries },
      (_, index) => entries - 1 - index,
    );
    const free = new Uint16Array(entries);
    free.set(added);
    free.set(this.free.subarray(0, this.freeCount), added.length);
    this.free = free;
    this.freeCount += added.length;
    this.memory.freeEntries();
    this.memory = larger;
  }

  private change(fields: Readonly<Record<string, number>>, larger?: ReceiveArea): void {
    const lists = larger === undefined ? [] : [pageList(larger.references), pageList(larger.entryArea)];
    this.driver.management.execute({
      verb: changing.verb,
      opcode: ManagementOpcode.modifySharedReceiveQueue,
      object: this.number,
      inputFormat: 'shared_receive_queue_attributes',
      input: [encode('shared_receive_queue_attributes', fields), ...lists],
    });
  }

  private tooSmall(size: number): VerbsError {
    const least = `at least ${this.outstanding}, the work requests that are posted and not completed`;
    return invalid(changing.verb, changing.names[0], least, size);
  }

  protected override nextPlace(): number {
    // The number belongs to a message that never ends and still holds it; as if the queue were full.
    if (this.outstanding >= this.size || this.placeOf[this.next] !== noPlace) {
      throw this.area.full(this.size);
    }
    return this.free[this.freeCount - 1]!;
  }

  protected override taken(place: number): void {
    this.placeOf[this.next] = place;
    this.freeCount--;
    this.next = (this.next + 1) % sequenceNumbers;
  }
}
