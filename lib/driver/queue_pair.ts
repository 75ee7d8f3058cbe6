import type { DmaMemory } from '../board/addon.ts';
import {
  CompletionStatus,
  ManagementOpcode,
  PAGE_BYTES,
  QUEUE_PAIR_ATTRIBUTES_BYTES,
  QueuePairState,
  QualityOfServiceLevel,
  ServiceType,
  encode,
} from '../spec/index.ts';
import { encodeArguments } from './arguments.ts';
import { ClosedReceiver } from './closed_receiver.ts';
import type { CommandOrigin, SendRequest } from './command.ts';
import type { Completion } from './completion.ts';
import { VerbsError } from './errors.ts';
import type { HcaDriver } from './hca_driver.ts';
import { pageList } from './page_list.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import {
  decodeQueuePairAttributes,
  encodeQueuePairAttributes,
  type QueuePairAttributes,
  type QueuePairQuery,
} from './queue_pair_attributes.ts';
import type { PreparedEntry, ReceiveQueueSizes, ReceiveRequest } from './receive_area.ts';
import { ReceiveQueue } from './receive_queue.ts';
import { SendQueue, type PreparedCommand, type SendQueueSizes } from './send_queue.ts';
import type { SharedReceiveQueue } from './shared_receive_queue.ts';
import { Stall } from './stall.ts';
import type { VirtualCollectBuffer } from './virtual_collect_buffers.ts';

const sendWorkQueue = 0;
const { success } = CompletionStatus;

/** How a queue pair is made. */
export interface QueuePairOptions {
  readonly protectionDomain: ProtectionDomain;
  /** Default reliable connection. */
  readonly serviceType?: ServiceType;
  /** Default low. */
  readonly level?: QualityOfServiceLevel;
  readonly sendQueue: SendQueueSizes;
  /** Default: it has no receive queue. */
  readonly receiveQueue?: ReceiveQueueSizes;
  /** Where it takes receive work requests instead. */
  readonly sharedReceiveQueue?: SharedReceiveQueue | undefined;
  /** Numbers of the completion queues of its send and receive queue. Default 0: no completions are written. */
  readonly sendCompletionQueue?: number;
  readonly receiveCompletionQueue?: number;
  /** Every work request is signaled. */
  readonly signalAll?: boolean;
  /** Secret that doorbell checksums cover; 32 bits. Default 0. */
  readonly checksumSecret?: number;
}

/** A queue pair in the device, and its queues in host memory. */
export class QueuePair {
  /** Index and generation, 24 bits. */
  readonly number: number;
  readonly serviceType: ServiceType;
  readonly level: QualityOfServiceLevel;
  readonly sendQueue: SendQueue;
  readonly receiveQueue: ReceiveQueue | undefined;
  readonly sharedReceiveQueue: SharedReceiveQueue | undefined;
  private buffer: VirtualCollectBuffer;
  private readonly driver: HcaDriver;
  private readonly sendCompletionQueue: number;
  private readonly receiveCompletionQueue: number;
  private readonly origin: CommandOrigin;
  /** Whether the driver must ring for receives, so that the device flushes them. */
  private flushing = false;
  /** Whether the driver must ring for receives, so that the device can report them to the peer. */
  private givesCredits = false;
  private virtual: number;
  private readonly stall = new Stall();
  private isDestroying = false;
  private isDestroyed = false;

  /** Creates a queue pair in RESET. @throws VerbsError EINVAL, ENOMEM: what the device says of it */
  constructor(driver: HcaDriver, options: QueuePairOptions) {
    const { protectionDomain, serviceType = ServiceType.reliableConnection, checksumSecret = 0 } = options;
    this.driver = driver;
    this.serviceType = serviceType;
    this.level = options.level ?? QualityOfServiceLevel.low;
    this.sharedReceiveQueue = options.sharedReceiveQueue;
    this.sendCompletionQueue = options.sendCompletionQueue ?? 0;
    this.receiveCompletionQueue = options.receiveCompletionQueue ?? 0;
    this.buffer = driver.virtualCollectBuffers.take(this.level);
    this.sendQueue = new SendQueue(driver.device, {
      ...options.sendQueue,
      signalAll: options.signalAll === true,
    });
    try {
      const { sendQueue } = this;
      const receiveQueue =
        options.receiveQueue === undefined
          ? undefined
          : new ReceiveQueue(driver.device, options.receiveQueue);
      this.receiveQueue = receiveQueue;
      this.number = driver.management.execute({
        verb: 'createQueuePair',
        opcode: ManagementOpcode.createQueuePair,
        inputFormat: 'create_queue_pair_input',
        input: [
          encode('create_queue_pair_input', {
            service_type: serviceType,
            quality_of_service_level: this.level,
            signal_all: options.signalAll === true ? 1 : 0,
            send_queue_log2: sendQueue.entriesLog2,
            receive_queue_log2: receiveQueue?.entriesLog2 ?? 0,
            protection_domain: protectionDomain.number,
            send_completion_queue: this.sendCompletionQueue,
            receive_completion_queue: this.receiveCompletionQueue,
            shared_receive_queue: this.sharedReceiveQueue?.number ?? 0,
            checksum_secret: checksumSecret,
            send_queue_pages: pagesOf(sendQueue.references),
            send_entry_pages: pagesOf(sendQueue.entryArea),
            receive_queue_pages: pagesOf(receiveQueue?.references),
            receive_entry_pages: pagesOf(receiveQueue?.entryArea),
            receive_tail_address: receiveQueue?.tail.address ?? 0n,
          }),
          pageList(sendQueue.references),
          pageList(sendQueue.entryArea),
          ...(receiveQueue === undefined
            ? []
            : [pageList(receiveQueue.references), pageList(receiveQueue.entryArea)]),
        ],
      }).number;
    } catch (error) {
      this.freeQueues();
      throw error;
    }
    this.virtual = this.number;
    this.origin = { queuePairNumber: this.number, level: this.level, checksumSecret };
    // Completions of a former queue pair with this number must not count for this one.
    const former = driver.closedReceivers.get(this.number);
    if (former !== undefined)
      for (const queue of driver.completionQueues.values()) queue.giveUp(this.number, former);
    driver.queuePairs.set(this.number, this);
  }

  /** The number that peers know, 24 bits: {@link number}, until it is reset with another one (US7095750). */
  get virtualNumber(): number {
    return this.virtual;
  }

  /** The device has given its number back. */
  get destroyed(): boolean {
    return this.isDestroyed;
  }

  /** Where its commands are written. */
  get virtualCollectBuffer(): VirtualCollectBuffer {
    return this.buffer;
  }

  /**
   * The function's virtual collect buffers have changed: takes one that it still has, and lets the scheduler bring what was written
   * to the other one, as it is unknown how far it was collected. Where the function has none left, it waits for the next change.
   */
  moveToOwnBuffer(): void {
    const { virtualCollectBuffers } = this.driver;
    if (virtualCollectBuffers.serves(this.level, this.buffer) || !virtualCollectBuffers.has(this.level))
      return;
    this.buffer = virtualCollectBuffers.take(this.level);
    this.startAll();
  }

  /**
   * Has the device fetch all that is posted and not completed from the send queue. Not of a queue pair that goes: the device refuses a
   * doorbell of one that it has no more, by an event that would have this driver ring again.
   */
  startAll(): void {
    if (this.isDestroying) return;
    this.sendQueue.startAll(this.number, this.buffer);
  }

  /**
   * Called about once a second. If nothing was posted and nothing completed since the last call, the device
   * may not know of posted work requests, for example because all writes of a command were lost; the driver
   * then rings for them.
   */
  look(): void {
    const { sendQueue } = this;
    if (this.stall.look(sendQueue.outstanding > 0, sendQueue.mark)) this.startAll();
  }

  /**
   * @param bindAtOnce a change to RTR fails where it would wait for the number that peers know
   * @throws VerbsError EINVAL: an attribute is missing or not allowed in this transition, or a value is wrong; EAGAIN: the number is in
   * time-wait, or all are
   */
  modify(attributes: QueuePairAttributes, bindAtOnce = false): void {
    this.driver.management.execute({
      verb: 'modifyQueuePair',
      opcode: ManagementOpcode.modifyQueuePair,
      object: this.number,
      inputFormat: 'queue_pair_attributes',
      input: [encodeQueuePairAttributes(attributes, bindAtOnce)],
    });
    if (attributes.state !== undefined) this.flushing = attributes.state === QueuePairState.error;
    if (attributes.endToEndCredits !== undefined) this.givesCredits = attributes.endToEndCredits;
    if (attributes.state !== QueuePairState.reset) return;
    if (attributes.newNumber === true) this.virtual = this.query().virtualNumber;
    this.givesCredits = false;
    this.forgetCompletions();
    this.sendQueue.reset();
    this.receiveQueue?.reset();
  }

  query(): QueuePairQuery {
    const { output } = this.driver.management.execute({
      verb: 'queryQueuePair',
      opcode: ManagementOpcode.queryQueuePair,
      object: this.number,
      outputBytes: QUEUE_PAIR_ATTRIBUTES_BYTES,
    });
    return decodeQueuePairAttributes(output);
  }

  /**
   * Posts a send work request; see {@link SendQueue.post}. First checks for VCB reassignment and lost commands. Keeps checking from the
   * event loop until all work completes, because a post-only caller never polls.
   * @returns its sequence number
   * @throws VerbsError ENETDOWN: the device is disabled; as {@link SendQueue.post}
   */
  post(request: SendRequest): number {
    this.beforePost();
    return this.sendQueue.post(this.origin, this.buffer, request);
  }

  /** Checks and encodes a send work request once; see {@link SendQueue.prepare}. */
  prepare(request: SendRequest): PreparedCommand {
    return this.sendQueue.prepare(this.origin, request);
  }

  /** Posts a prepared send work request; see {@link SendQueue.postPrepared} and {@link post}. */
  postPrepared(command: PreparedCommand, wrId: number | bigint): number {
    this.beforePost();
    return this.sendQueue.postPrepared(this.origin, this.buffer, command, wrId);
  }

  /** Posts work requests by one doorbell; see {@link SendQueue.postBatch} and {@link post}. */
  postBatch(requests: readonly SendRequest[]): number {
    this.driver.events.collect();
    if (this.driver.disabled) throw Object.assign(deviceDisabled(), { posted: 0 });
    this.driver.watch.posted();
    return this.sendQueue.postBatch(this.origin, this.buffer, requests);
  }

  /**
   * Posts a receive work request; see {@link ReceiveQueue.post}. @returns its sequence number
   * @throws VerbsError EINVAL: the queue pair has no receive queue
   */
  postReceive(request: ReceiveRequest): number {
    const queue = this.needReceiveQueue();
    const sequenceNumber = queue.post(request);
    if (this.flushing || this.givesCredits) queue.doorbell(this.number);
    return sequenceNumber;
  }

  /** Checks and encodes a receive work request once; see {@link ReceiveQueue.prepare}. @throws VerbsError as postReceive() */
  prepareReceive(request: ReceiveRequest): PreparedEntry {
    return this.needReceiveQueue().prepare(request);
  }

  /** Posts a prepared receive work request; see {@link ReceiveQueue.postPrepared}. */
  postPreparedReceive(request: PreparedEntry, wrId: number | bigint): number {
    const queue = this.needReceiveQueue();
    const sequenceNumber = queue.postPrepared(request, wrId);
    if (this.flushing || this.givesCredits) queue.doorbell(this.number);
    return sequenceNumber;
  }

  /** Posts receive work requests; see {@link ReceiveQueue.postBatch}. @throws VerbsError as postReceive() */
  postReceiveBatch(requests: readonly ReceiveRequest[]): number {
    const queue = this.needReceiveQueue();
    try {
      return queue.postBatch(requests);
    } finally {
      if (this.flushing || this.givesCredits) queue.doorbell(this.number);
    }
  }

  /** A completion of this queue pair was taken: its slots are free, and the completion gets its wrId. */
  complete(completion: Completion): void {
    const { sequenceNumber, status, workQueue } = completion;
    if (this.virtual !== this.number) completion.rename(this.virtual);
    if (workQueue === sendWorkQueue) this.sendQueue.completedThrough(sequenceNumber, completion);
    else if (this.receiveQueue !== undefined) this.receiveQueue.completedThrough(sequenceNumber, completion);
    else this.sharedReceiveQueue?.completed(sequenceNumber, completion);
    if (status !== success && !this.flushing && this.isFailedBy(workQueue)) this.failed();
  }

  /** Of an unreliable service a send that fails brings the queue pair into SQE, where it goes on receiving. */
  private isFailedBy(workQueue: number): boolean {
    return this.serviceType === ServiceType.reliableConnection || workQueue !== sendWorkQueue;
  }

  /**
   * A completion or an event said that the device has put the queue pair in the error state: receives that were posted since then
   * are flushed, and from now on each that is posted.
   */
  failed(): void {
    this.flushing = true;
    this.receiveQueue?.doorbell(this.number);
  }

  /** Datagrams to this group are received too. @throws VerbsError EINVAL: not UD, or no MGID; ENOMEM: no member can be added */
  attachMulticast(gid: Uint8Array): void {
    this.changeMulticast('attachMulticast', gid);
  }

  /** @throws VerbsError EINVAL: it is not attached to the group */
  detachMulticast(gid: Uint8Array): void {
    this.changeMulticast('detachMulticast', gid);
  }

  /** Destroys the queue pair when nothing of it is in flight, and frees its memory. */
  destroy(): void {
    this.isDestroying = true;
    try {
      this.driver.management.execute({
        verb: 'destroyQueuePair',
        opcode: ManagementOpcode.destroyQueuePair,
        object: this.number,
      });
    } catch (error) {
      this.isDestroying = false;
      throw error;
    }
    const { queuePairs, closedReceivers } = this.driver;
    this.isDestroyed = true;
    queuePairs.delete(this.number);
    const { sharedReceiveQueue } = this;
    const left = this.forgetCompletions();
    if (sharedReceiveQueue !== undefined && left > 0)
      closedReceivers.set(
        this.number,
        new ClosedReceiver(sharedReceiveQueue, left, this.virtual, () => closedReceivers.delete(this.number)),
      );
    this.freeQueues();
  }

  /** Its completions are not taken any more, but for receives of a shared queue. @returns how many these are */
  private forgetCompletions(): number {
    const keepsReceives = this.sharedReceiveQueue !== undefined;
    const { completionQueues } = this.driver;
    const sent = completionQueues.get(this.sendCompletionQueue)?.forget(this.number, keepsReceives) ?? 0;
    if (this.sendCompletionQueue === this.receiveCompletionQueue) return sent;
    return completionQueues.get(this.receiveCompletionQueue)?.forget(this.number, keepsReceives) ?? 0;
  }

  /** @throws VerbsError ENETDOWN: the device is disabled */
  private beforePost(): void {
    this.driver.events.collect();
    if (this.driver.disabled) throw deviceDisabled();
    this.driver.watch.posted();
  }

  private needReceiveQueue(): ReceiveQueue {
    if (this.receiveQueue === undefined) throw this.noReceiveQueue();
    return this.receiveQueue;
  }

  private noReceiveQueue(): VerbsError {
    if (this.sharedReceiveQueue !== undefined) {
      return new VerbsError('the queue pair receives from a shared receive queue', {
        code: 'EINVAL',
        verb: 'postReceive',
        attribute: 'sharedReceiveQueue',
        expected: 'receives posted to the shared receive queue',
      });
    }
    return new VerbsError('the queue pair has no receive queue', {
      code: 'EINVAL',
      verb: 'postReceive',
      attribute: 'maxReceiveWorkRequests',
      expected: 'a queue pair created with maxReceiveWorkRequests of 1 or more',
    });
  }

  private freeQueues(): void {
    this.sendQueue.free();
    this.receiveQueue?.free();
  }

  private changeMulticast(verb: 'attachMulticast' | 'detachMulticast', gid: Uint8Array): void {
    this.driver.management.execute({
      verb,
      opcode: ManagementOpcode[verb],
      object: this.number,
      inputFormat: 'multicast_input',
      input: [encodeArguments('multicast_input', { gid })],
    });
  }
}

function deviceDisabled(): VerbsError {
  return new VerbsError('the device is disabled: its control function has stopped it', {
    code: 'ENETDOWN',
    verb: 'postSend',
    expected:
      'the device enabled again (the event port_active says so), and the queue pair reset and connected again',
  });
}

function pagesOf(memory: DmaMemory | undefined): number {
  return (memory?.buffer.byteLength ?? 0) / PAGE_BYTES;
}
