import {
  COMPLETION_QUEUE_ENTRY_PHASE_BYTE,
  EventType,
  ManagementStatus,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_SHIFT,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_MASK,
  UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_SOLICITED_SHIFT,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import { makeCompletionQueues, type CompletionQueuePort } from './completion_queue_port.ts';

const page = 4096;
const entryBytes = 64;
const referenceBytes = 8;

type Fields = Parameters<typeof encode>[1];
type Decoded = ReturnType<typeof decode>;

/** The options of a queue. */
export interface QueueSettings {
  underlyingFunction?: number;
  entriesLog2?: number;
  variable?: boolean;
  eventQueue?: number;
  userHandle?: number;
}

/** The address of a queue's head record in host memory; its pages, up to 35, follow. */
const place = (slot: number): number => 0x10000 + slot * 0x24000;

/** A host's side of one completion queue: its pages, head record and what it has read. */
export class HostCompletionQueue {
  readonly port: CompletionQueuePort;
  readonly underlyingFunction: number;
  entries: number;
  readonly number: number;
  readonly headOffset: number;
  /** Offsets of the pages in host memory; no page follows its predecessor. */
  pages: readonly number[];
  head = 0;
  private log2: number;
  private readonly variable: boolean;
  private readonly areaPage: number;

  /** @param slot the part of host memory for the queue, 0 to 7 */
  constructor(settings: QueueSettings = {}, port: CompletionQueuePort = makeCompletionQueues(), slot = 0) {
    const { underlyingFunction = 1, entriesLog2 = 2, variable = false, eventQueue = 3 } = settings;
    this.port = port;
    this.underlyingFunction = underlyingFunction;
    this.log2 = entriesLog2;
    this.entries = 1 << entriesLog2;
    this.variable = variable;
    this.areaPage = variable ? Math.ceil((this.entries * referenceBytes) / page) : 0;
    const count = this.areaPage + Math.ceil((this.entries * entryBytes) / page);
    this.headOffset = place(slot);
    this.pages = Array.from({ length: count }, (_, index) => place(slot) + (count - index) * page);
    const number = port.create(
      underlyingFunction,
      encode('create_completion_queue_input', {
        event_queue: eventQueue,
        entries_log2: entriesLog2,
        variable: variable ? 1 : 0,
        pages: count,
        head_address: port.base + BigInt(this.headOffset),
        user_handle: settings.userHandle ?? 0,
      }),
      this.pages.map((offset) => port.base + BigInt(offset)),
    );
    if (number === null) throw new Error('no completion queue is left');
    this.number = number;
  }

  /**
   * Resizes the queue like a host that consumes nothing meanwhile.
   * @param slot the part of host memory for the new pages, which no other queue may use
   * @returns the status of the device; if it is not success, nothing has changed
   */
  resize(entriesLog2: number, slot: number): ManagementStatus {
    const { number, log2 } = this;
    const entries = 1 << entriesLog2;
    const count = Math.ceil((entries * entryBytes) / page);
    const pages = Array.from({ length: count }, (_, index) => place(slot) + (count - index) * page);
    const at = (list: readonly number[], index: number, size: number): Uint8Array => {
      const offset = (index & (size - 1)) * entryBytes;
      return new Uint8Array(this.port.memory, list[Math.floor(offset / page)]! + (offset % page), entryBytes);
    };
    const phase = (index: number, bits: number): number => ((index >>> bits) & 1) ^ 1;
    for (let index = this.head - entries; index < this.head; index++)
      at(pages, index, entries).set(
        encode('completion_queue_entry', { phase: phase(index, entriesLog2), sequence: index & 0x7fffffff }),
      );
    this.publish();
    const addresses = pages.map((offset) => this.port.base + BigInt(offset));
    const status: ManagementStatus = this.port.resize(
      this.underlyingFunction,
      number,
      entriesLog2,
      addresses,
    );
    if (status !== ManagementStatus.success) return status;
    const tail = this.port.tail(number);
    for (let index = this.head; index !== tail; index = (index + 1) >>> 0) {
      const entry = at(pages, index, entries);
      entry.set(at(this.pages, index, 1 << log2));
      const last = COMPLETION_QUEUE_ENTRY_PHASE_BYTE;
      entry[last] = (entry[last]! & 0xfe) | phase(index, entriesLog2);
    }
    this.pages = pages;
    this.entries = entries;
    this.log2 = entriesLog2;
    return status;
  }

  write(fields: Fields = {}, underlyingFunction = this.underlyingFunction): boolean {
    return this.port.write(underlyingFunction, this.number, encode('completion_queue_entry', fields));
  }

  /** Byte `at` of the queue's pages, in host memory. */
  offset(at: number): number {
    return this.pages[Math.floor(at / page)]! + (at % page);
  }

  /** The entry at the host's head, or undefined if its phase says that it is not written yet. */
  peek(): Decoded | undefined {
    const slot = this.head & (this.entries - 1);
    const phase = ((this.head >>> this.log2) & 1) ^ 1;
    let at = slot * entryBytes;
    if (this.variable) {
      const reference = this.get(slot * referenceBytes, 'completion_queue_reference', referenceBytes);
      if (reference['phase'] !== phase) return undefined;
      if (reference['length'] !== entryBytes) throw new Error(`a CQE of ${Number(reference['length'])} B`);
      at = this.areaPage * page + Number(reference['offset']);
    }
    const entry = this.get(at, 'completion_queue_entry', entryBytes);
    return entry['phase'] === phase ? entry : undefined;
  }

  /** Consumes the entry at the head; the device does not learn of it. */
  take(): Decoded | undefined {
    const entry = this.peek();
    if (entry !== undefined) this.head = (this.head + 1) >>> 0;
    return entry;
  }

  /** Writes the head record. */
  publish(head = this.head): void {
    new DataView(this.port.memory).setUint32(this.headOffset, head, true);
  }

  arm(
    sequence: number,
    options: { solicited?: boolean; head?: number; underlyingFunction?: number } = {},
  ): boolean {
    const { solicited = false, head = this.head, underlyingFunction = this.underlyingFunction } = options;
    return this.port.arm(underlyingFunction, armRequest(this.number, sequence, solicited, head));
  }

  /** The event units since the last call. */
  events(): Decoded[] {
    return this.port.takeEvents().map((event) => decode('event_unit', event));
  }

  /** The number of events since the last call that are completions of this queue. */
  completionEvents(): number {
    return this.events().filter(({ type, object }) => type === EventType.completion && object === this.number)
      .length;
  }

  private get(at: number, format: string, bytes: number): Decoded {
    return decode(format, new Uint8Array(this.port.memory, this.offset(at), bytes));
  }
}

/** The value that the host writes to the register completion_queue_arm. */
export function armRequest(
  completionQueue: number,
  sequence: number,
  solicited: boolean,
  head: number,
): bigint {
  const low =
    completionQueue +
    Number(solicited) * 2 ** UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_SOLICITED_SHIFT +
    (sequence & UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_MASK) *
      2 ** UNDERLYING_FUNCTION_COMPLETION_QUEUE_ARM_ARM_SEQUENCE_SHIFT;
  return (BigInt(head >>> 0) << 32n) | BigInt(low);
}
