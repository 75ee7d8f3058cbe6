import { DoorbellSlot, QueuePairState } from '../../lib/spec/enums.ts';
import { COMMAND_HEADER_BYTES } from '../../lib/spec/commands.ts';
import { DOORBELL_SLOTS_OFFSET, PAGE_BYTES } from '../../lib/spec/parameters.ts';
import {
  setWorkQueueReferenceLength,
  setWorkQueueReferenceOffset,
  setWorkQueueReferenceSequenceNumber,
} from '../../lib/spec/queues.ts';
import { makeCommand } from '../helpers/command.ts';
import { viewOf } from './data_view.ts';
import { Block, makeOrderPort, type OrderOptions, type OrderPort } from './order_port.ts';
import {
  getEventUnitObject,
  getEventUnitReason,
  getEventUnitType,
  getKickUnitOrigin,
  getKickUnitQueuePairNumber,
  getKickUnitSendQueueSequenceNumber,
  getKickUnitStatus,
  getKickUnitTransmitVirtualLane,
  getKickUnitUnderlyingFunction,
  getQueuePairRequesterFetchNext,
  getQueuePairRequesterNext,
  getQueuePairRequesterPosted,
  getQueuePairRequesterScheduled,
  getQueuePairRequesterStopped,
} from './fields.ts';

/** Distance of two work queue entries: a divisor of the page that holds the largest command. */
export const entryStride = 512;
const allBlocks = Object.values(Block);

/** A queue pair as a test tracks it: its place in host memory, and its posted commands. */
export interface BenchQueuePair {
  number: number;
  underlyingFunction: number;
  level: number;
  entries: number;
  checksumSecret: number;
  /** Offsets in host memory of each page of the send queue and of its entry area. */
  queuePages: number[];
  entryPages: number[];
  /** Sequence number of the next work request that is posted. */
  next: number;
  /** Sequence numbers that were posted, and those that were executed, in order. */
  posted: number[];
  executed: number[];
}

/** A command that the pipeline took. */
export interface Execution {
  queuePairNumber: number;
  underlyingFunction: number;
  sequenceNumber: number;
  origin: number;
  status: number;
  lane: number;
}

/**
 * The differences of a queue pair from one of function 0, low level, with 16 entries and no secret, in RTS.
 */
export interface BenchQueuePairOptions {
  underlyingFunction?: number;
  level?: number;
  log2?: number;
  checksumSecret?: number;
  state?: number;
}

/** The blocks, a host memory from which pages are allocated, and queue pairs with send queues in it. */
export class OrderBench {
  readonly port: OrderPort;
  readonly memory: Uint8Array;
  readonly view: DataView;
  /** Offset in host memory of each queuing structure, at 2 × function + level. */
  readonly queuingStructures: number[] = [];
  readonly queuePairs = new Map<number, BenchQueuePair>();
  private allocated = 0;
  private readonly buffersPerFunction: number;

  constructor(options: Partial<OrderOptions> = {}) {
    const { underlyingFunctions = 2, virtualCollectBuffers = 8 } = options;
    this.buffersPerFunction = Math.floor(virtualCollectBuffers / underlyingFunctions);
    this.port = makeOrderPort({
      memoryBytes: 1 << 21,
      underlyingFunctions,
      virtualCollectBuffers,
      queuePairs: 64,
      pageTableEntries: 1024,
      memoryKeys: 256,
      ...options,
    });
    this.memory = new Uint8Array(this.port.memory);
    this.view = new DataView(this.port.memory);
    for (let index = 0; index < 2 * underlyingFunctions; index++) {
      const [page] = this.allocate(1);
      this.queuingStructures.push(page!);
      this.port.setQueuingStructure(index >> 1, index & 1, this.address(page!), 6);
    }
  }

  address(offset: number): bigint {
    return this.port.base + BigInt(offset);
  }

  /** Offsets of new pages, not contiguous: every other page stays unused. */
  allocate(pages: number): number[] {
    return Array.from({ length: pages }, () => 2 * PAGE_BYTES * this.allocated++);
  }

  makeQueuePair(options: BenchQueuePairOptions = {}): BenchQueuePair {
    const { underlyingFunction = 0, level = 0, log2 = 4, checksumSecret = 0 } = options;
    const entries = 1 << log2;
    const queuePages = this.allocate(Math.ceil((entries * 8) / PAGE_BYTES));
    const entryPages = this.allocate(Math.ceil((entries * entryStride) / PAGE_BYTES));
    const number = this.port.createQueuePair({
      underlyingFunction,
      level,
      state: options.state ?? QueuePairState.readyToSend,
      sendQueueLog2: log2,
      sendQueuePages: queuePages.map((page) => this.address(page)),
      sendEntryPages: entryPages.map((page) => this.address(page)),
      sendEntryBytes: entries * entryStride,
      checksumSecret,
    });
    const queuePair: BenchQueuePair = {
      number,
      underlyingFunction,
      level,
      entries,
      checksumSecret,
      queuePages,
      entryPages,
      next: 0,
      posted: [],
      executed: [],
    };
    this.queuePairs.set(number, queuePair);
    return queuePair;
  }

  /** Sets the first sequence number of a queue pair. */
  setPosition(queuePair: BenchQueuePair, sequenceNumber: number): void {
    this.port.setPosition(queuePair.underlyingFunction, queuePair.number, sequenceNumber);
    queuePair.next = sequenceNumber;
  }

  /** Offset in host memory of the reference, and of the entry, of a work request. */
  referenceOf(queuePair: BenchQueuePair, sequenceNumber: number): number {
    return placeIn(queuePair.queuePages, (sequenceNumber % queuePair.entries) * 8);
  }
  entryOf(queuePair: BenchQueuePair, sequenceNumber: number): number {
    return placeIn(queuePair.entryPages, (sequenceNumber % queuePair.entries) * entryStride);
  }

  /** Whether another work request can be posted. */
  hasRoom(queuePair: BenchQueuePair): boolean {
    return queuePair.posted.length - queuePair.executed.length < queuePair.entries;
  }

  /** Puts a work request into the send queue; returns its command, which is not kicked yet. */
  post(queuePair: BenchQueuePair, length = 0): Uint8Array {
    const sequenceNumber = queuePair.next;
    const command = makeCommand({
      length,
      queuePairNumber: queuePair.number,
      sequenceNumber,
      level: queuePair.level as 0 | 1,
      ...(queuePair.checksumSecret !== 0 && { checksumSecret: queuePair.checksumSecret }),
    });
    this.memory.set(command, this.entryOf(queuePair, sequenceNumber));
    const reference = this.referenceOf(queuePair, sequenceNumber);
    setWorkQueueReferenceOffset(this.view, reference, (sequenceNumber % queuePair.entries) * entryStride);
    setWorkQueueReferenceSequenceNumber(this.view, reference, sequenceNumber);
    setWorkQueueReferenceLength(this.view, reference, COMMAND_HEADER_BYTES + length);
    queuePair.posted.push(sequenceNumber);
    queuePair.next = (sequenceNumber + 1) & 0xffff;
    return command;
  }

  /** VCB `index` of a function. */
  bufferOf(underlyingFunction: number, index = 0): number {
    return underlyingFunction * this.buffersPerFunction + index;
  }

  /** Writes bytes to a VCB page in transactions of 64 B at most; steps the blocks while there is no credit. */
  write(buffer: number, offset: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 64) {
      while (!this.port.canAcceptWrite()) this.stepAll();
      this.port.write(buffer, offset + at, bytes.slice(at, at + 64));
    }
  }

  kick(queuePair: BenchQueuePair, command: Uint8Array, index = 0): void {
    this.write(this.bufferOf(queuePair.underlyingFunction, index), 0, command);
  }

  /** Rings the start or stop slot for a queue pair. */
  ring(queuePair: BenchQueuePair, slot: DoorbellSlot, sequenceNumber = 0, index = 0): void {
    const value = new Uint8Array(8);
    const view = viewOf(value);
    view.setUint32(0, queuePair.number, true);
    view.setUint32(4, sequenceNumber, true);
    const buffer = this.bufferOf(queuePair.underlyingFunction, index);
    this.write(buffer, DOORBELL_SLOTS_OFFSET + 8 * slot, value);
  }

  /** Starts the scheduler through the newest work request. */
  startThroughNewest(queuePair: BenchQueuePair): void {
    this.ring(queuePair, DoorbellSlot.start, (queuePair.next - 1) & 0xffff);
  }

  /** Lets a block work, and records the executed commands. */
  step(block: Block): boolean {
    const worked = this.port.step(block);
    if (block === Block.pipelineSink && worked) this.takeExecutions();
    return worked;
  }

  /** Returns false if no block has anything to do. */
  stepAll(): boolean {
    for (const block of allBlocks) this.step(block);
    return this.port.isAwake();
  }

  /** Steps until nothing is left to do. */
  settle(): void {
    for (let steps = 0; this.stepAll(); steps++)
      if (steps > 100_000) throw new Error('the blocks do not come to rest');
  }

  readonly executions: Execution[] = [];

  private takeExecutions(): void {
    for (const unit of this.port.takeExecutions()) {
      const view = viewOf(unit);
      const execution: Execution = {
        queuePairNumber: getKickUnitQueuePairNumber(view, 0),
        underlyingFunction: getKickUnitUnderlyingFunction(view, 0),
        sequenceNumber: getKickUnitSendQueueSequenceNumber(view, 0),
        origin: getKickUnitOrigin(view, 0),
        status: getKickUnitStatus(view, 0),
        lane: getKickUnitTransmitVirtualLane(view, 0),
      };
      this.executions.push(execution);
      this.queuePairs.get(execution.queuePairNumber)?.executed.push(execution.sequenceNumber);
    }
  }

  /** Events since the last call. */
  takeEvents(): { type: number; object: number; reason: number }[] {
    return this.port.takeEvents().map((event) => {
      const view = viewOf(event);
      return {
        type: getEventUnitType(view, 0),
        object: getEventUnitObject(view, 0),
        reason: getEventUnitReason(view, 0),
      };
    });
  }

  requester(queuePair: BenchQueuePair): {
    next: number;
    posted: number;
    fetchNext: number;
    scheduled: number;
    stopped: number;
  } {
    const view = viewOf(this.port.requester(queuePair.underlyingFunction, queuePair.number));
    return {
      next: getQueuePairRequesterNext(view, 0),
      posted: getQueuePairRequesterPosted(view, 0),
      fetchNext: getQueuePairRequesterFetchNext(view, 0),
      scheduled: getQueuePairRequesterScheduled(view, 0),
      stopped: getQueuePairRequesterStopped(view, 0),
    };
  }
}

function placeIn(pages: readonly number[], offset: number): number {
  return pages[Math.floor(offset / PAGE_BYTES)]! + (offset % PAGE_BYTES);
}
