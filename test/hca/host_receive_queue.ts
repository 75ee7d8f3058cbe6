import {
  UNDERLYING_FUNCTION_RECEIVE_DOORBELL_SHARED_SHIFT,
  UNDERLYING_FUNCTION_RECEIVE_DOORBELL_TAIL_WORD,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import {
  makeReceiveQueues,
  type Descriptor,
  type ReceiveQueuePort,
  type ScatterEntry,
} from '../helpers/receive_queue_port.ts';

const page = 4096;
const referenceBytes = 8;
const slotBytes = 320; // of an entry with 16 scatter entries: a multiple of 64
const entriesPerPage = Math.floor(page / slotBytes);
const headerBytes = 16;

type Fields = Parameters<typeof encode>[1];

/** The options of a queue. */
export interface QueueSettings {
  underlyingFunction?: number;
  entriesLog2?: number;
}

/** Host memory of a port, from which pages are allocated. */
const used = new WeakMap<ReceiveQueuePort, number>();

/** A host's side of one receive queue: the posted work requests, in pages that are not contiguous. */
export class HostReceiveQueue {
  readonly port: ReceiveQueuePort;
  readonly underlyingFunction: number;
  readonly entries: number;
  readonly entryBytes: number;
  readonly number: number;
  readonly tailOffset: number;
  /** Sequence number of the next work request, not reduced to 16 bits. */
  next = 0;
  /** Offsets of the pages in host memory. */
  readonly referencePages: readonly number[];
  readonly entryPages: readonly number[];
  private readonly view: DataView;

  constructor(settings: QueueSettings = {}, port: ReceiveQueuePort = makeReceiveQueues()) {
    const { underlyingFunction = 1, entriesLog2 = 2 } = settings;
    this.port = port;
    this.underlyingFunction = underlyingFunction;
    this.entries = 1 << entriesLog2;
    this.view = new DataView(port.memory);
    this.referencePages = this.allocate(Math.ceil((this.entries * referenceBytes) / page));
    this.entryPages = this.allocate(Math.ceil(this.entries / entriesPerPage));
    this.tailOffset = this.allocate(1)[0]!;
    this.entryBytes = this.entryPages.length * page;
    this.number = port.createQueuePair({
      underlyingFunction,
      receiveQueueLog2: entriesLog2,
      receiveQueuePages: this.referencePages.map((offset) => port.base + BigInt(offset)),
      receiveEntryPages: this.entryPages.map((offset) => port.base + BigInt(offset)),
      receiveEntryBytes: this.entryBytes,
      receiveTailAddress: this.tailAddress,
    });
  }

  get tailAddress(): bigint {
    return this.port.base + BigInt(this.tailOffset);
  }

  /** Continues with this sequence number, on both sides. */
  startAt(sequenceNumber: number): void {
    this.next = sequenceNumber;
    this.port.setPosition(this.underlyingFunction, this.number, sequenceNumber & 0xffff);
    this.publish();
  }

  /** Puts a work request into its slot; the device does not learn of it before publish(). */
  post(
    scatter: readonly ScatterEntry[] = [],
    wrong: { header?: Fields; reference?: Fields } = {},
  ): Descriptor {
    const sequenceNumber = this.next & 0xffff;
    const slot = this.next % this.entries;
    const offset = Math.floor(slot / entriesPerPage) * page + (slot % entriesPerPage) * slotBytes;
    const length = headerBytes + scatter.length * 16;
    const at = this.entryOffset(offset);
    this.put(at, 'receive_entry_header', {
      scatter_count: scatter.length,
      sequence_number: sequenceNumber,
      ...wrong.header,
    });
    scatter.forEach(({ address, length: bytes, localKey }, index) =>
      this.put(at + headerBytes + index * 16, 'gather_entry', {
        address,
        length: bytes,
        local_key: localKey,
      }),
    );
    this.put(this.referenceOffset(slot), 'work_queue_reference', {
      offset,
      sequence_number: sequenceNumber,
      length,
      ...wrong.reference,
    });
    ++this.next;
    return { sequenceNumber, offset, length };
  }

  /** Stores the tail record. */
  publish(tail = this.next & 0xffff): void {
    this.view.setUint32(this.tailOffset, tail, true);
  }

  take(underlyingFunction = this.underlyingFunction): Descriptor | null {
    return this.port.take(underlyingFunction, this.number);
  }

  doorbell(
    tail = this.next & 0xffff,
    { shared = false, underlyingFunction = this.underlyingFunction } = {},
  ): boolean {
    const value =
      BigInt(this.number) |
      (BigInt(shared) << BigInt(UNDERLYING_FUNCTION_RECEIVE_DOORBELL_SHARED_SHIFT)) |
      (BigInt(tail) << BigInt(32 * UNDERLYING_FUNCTION_RECEIVE_DOORBELL_TAIL_WORD));
    return this.port.doorbell(underlyingFunction, value);
  }

  state(): number | null {
    return this.port.state(this.underlyingFunction, this.number);
  }

  /** The DMA accesses of the function that the work causes. */
  accessesOf(work: () => void): number {
    const before = this.port.accessesOf(this.underlyingFunction);
    work();
    return this.port.accessesOf(this.underlyingFunction) - before;
  }

  /** The event units since the last call. */
  events(): ReturnType<typeof decode>[] {
    return this.port.takeEvents().map((event) => decode('event_unit', event));
  }

  referenceOffset(slot: number): number {
    const at = slot * referenceBytes;
    return this.referencePages[Math.floor(at / page)]! + (at % page);
  }

  entryOffset(offset: number): number {
    return this.entryPages[Math.floor(offset / page)]! + (offset % page);
  }

  put(at: number, format: string, fields: Fields): void {
    new Uint8Array(this.port.memory).set(encode(format, fields), at);
  }

  /** Pages of host memory, each before the one given earlier. */
  private allocate(pages: number): number[] {
    const from = used.get(this.port) ?? page;
    used.set(this.port, from + pages * page);
    return Array.from({ length: pages }, (_, index) => from + (pages - 1 - index) * page);
  }
}
