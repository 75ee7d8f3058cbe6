import { checkKeys, checkRange, inElement, invalid, wrongType } from '../driver/arguments.ts';
import type { SendRequest, WindowBinding } from '../driver/command.ts';
import { VerbsError } from '../driver/errors.ts';
import { QueuePair as QueuePairInDevice } from '../driver/queue_pair.ts';
import type { QueuePairAttributes, QueuePairQuery } from '../driver/queue_pair_attributes.ts';
import type { PreparedEntry, ReceiveRequest } from '../driver/receive_area.ts';
import type { PreparedCommand } from '../driver/send_queue.ts';
import { enumText } from '../spec/enum_names.ts';
import {
  Opcode,
  QualityOfServiceLevel,
  QueuePairState,
  ServiceType,
  queuePairStateNames,
} from '../spec/index.ts';
import { CompletionQueue } from './completion_queue.ts';
import type { Context } from './context.ts';
import { nextRemoteKey, type MemoryWindow } from './memory_window.ts';
import { PreparedReceive, PreparedSend } from './prepared.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { deadlineOf, sleep, type WaitOptions } from './polling_wait.ts';
import { checkTransition } from './queue_pair_transitions.ts';
import { checkSendWorkRequest } from './send_work_request.ts';
import { SharedReceiveQueue } from './shared_receive_queue.ts';
import { VerbsObject } from './verbs_object.ts';

/** Sizes of the queues of a queue pair. */
export interface QueuePairCapabilities {
  /** Work requests of the send queue, rounded up to a power of two, at most 32768. Default 128. */
  readonly maxSendWorkRequests?: number;
  /** Work requests of the receive queue, likewise. Default 128. */
  readonly maxReceiveWorkRequests?: number;
  /** Maximum entries of a gather list, up to 16. Default 4. */
  readonly maxGatherEntries?: number;
  /** Maximum entries of a scatter list, up to 16. Default 4. */
  readonly maxScatterEntries?: number;
  /** Maximum inline data, up to 256 bytes. Default 64. */
  readonly maxInlineData?: number;
}

/** Milliseconds until a time-wait is looked at again: the device's clock may run faster than that of the process. */
const longestSleep = 50;

/** The transport services, with the names of libibverbs. */
const serviceTypes = {
  RC: ServiceType.reliableConnection,
  UC: ServiceType.unreliableConnection,
  UD: ServiceType.unreliableDatagram,
} as const;

const optionKeys: ReadonlySet<string> = new Set<keyof QueuePairOptions>([
  'type',
  'sendCompletionQueue',
  'receiveCompletionQueue',
  'capabilities',
  'sharedReceiveQueue',
  'signalAll',
  'level',
  'checksumSecret',
]);
const capabilityKeys: ReadonlySet<string> = new Set<keyof QueuePairCapabilities>([
  'maxSendWorkRequests',
  'maxReceiveWorkRequests',
  'maxGatherEntries',
  'maxScatterEntries',
  'maxInlineData',
]);
// V8 folds a module's own constants where they are used, and loads an imported one at every use.
const check = checkSendWorkRequest;
const { reset, readyToSend } = QueuePairState;
const isBatch = <Request>(requests: Request | readonly Request[]): requests is readonly Request[] =>
  Array.isArray(requests);
const completionQueueNames = ['sendCompletionQueue', 'receiveCompletionQueue'] as const;

/** Transport service: reliable connection, unreliable connection, unreliable datagram (InfiniBand volume 1, 3.2.2). */
export type QueuePairType = keyof typeof serviceTypes;

/** Options for creating a queue pair. */
export interface QueuePairOptions {
  /** Transport service: reliable connection, unreliable connection, unreliable datagram. */
  readonly type: QueuePairType;
  /** Completion queue of the same context for sends. */
  readonly sendCompletionQueue: CompletionQueue;
  /** Completion queue of the same context for receives; may be the same one. */
  readonly receiveCompletionQueue: CompletionQueue;
  /** Sizes of its queues. */
  readonly capabilities?: QueuePairCapabilities;
  /**
   * Shared receive queue that provides the receive work requests, of any protection domain. The receive capabilities then have no effect.
   */
  readonly sharedReceiveQueue?: SharedReceiveQueue;
  /** Makes every work request signaled. */
  readonly signalAll?: boolean;
  /** Quality of service level. Default low. */
  readonly level?: QualityOfServiceLevel;
  /**
   * 32-bit secret that goes into the doorbell checksum of a work request posted with `checksum`. A command mixed with, or forged by, a
   * writer that does not know the secret never executes (US8589610, doorbell checksum state). Default 0.
   */
  readonly checksumSecret?: number;
}

/** Parameters of a bind of a memory window of type 1. */
export interface BindMemoryWindowOptions
  extends Omit<WindowBinding, 'key'>, Pick<SendRequest, 'wrId' | 'signaled' | 'fence'> {}

/** A queue pair. */
export class QueuePair extends VerbsObject {
  readonly label: string;
  /** The driver's object, for tools. */
  readonly driver: QueuePairInDevice;
  /** Transport service. */
  readonly type: QueuePairType;
  /** The state, as far as the driver knows it. */
  private state: QueuePairState = QueuePairState.reset;

  /** {@link ProtectionDomain.createQueuePair} makes queue pairs. */
  private constructor(
    protectionDomain: ProtectionDomain,
    completionQueues: readonly CompletionQueue[],
    sharedReceiveQueue: SharedReceiveQueue | undefined,
    type: QueuePairType,
    driver: QueuePairInDevice,
  ) {
    const shared = sharedReceiveQueue === undefined ? [] : [sharedReceiveQueue];
    super([protectionDomain, ...completionQueues, ...shared]);
    this.type = type;
    this.driver = driver;
    this.label = `queue pair ${driver.number}`;
  }

  /** {@link ProtectionDomain.createQueuePair} */
  static create(
    context: Context,
    protectionDomain: ProtectionDomain,
    { type, capabilities = {}, ...options }: QueuePairOptions,
  ): QueuePair {
    checkKeys(optionKeys, { type, capabilities, ...options });
    checkKeys(capabilityKeys, capabilities, 'capabilities.');
    const { sendCompletionQueue, receiveCompletionQueue, sharedReceiveQueue } = options;
    const completionQueues = [sendCompletionQueue, receiveCompletionQueue];
    if (!completionQueues.every((queue) => queue instanceof CompletionQueue)) {
      throw wrongQueue(options);
    }
    VerbsObject.requireOpen('createQueuePair', [protectionDomain, ...completionQueues]);
    const serviceType = serviceTypes[type];
    if (serviceType === undefined) throw notMade('type', "'RC', 'UC' or 'UD'", type);
    for (const name of completionQueueNames) {
      if (options[name].context !== context) throw notMade(name, 'of the same context', options[name]);
    }
    if (sharedReceiveQueue !== undefined && !(sharedReceiveQueue instanceof SharedReceiveQueue)) {
      throw wrongType('sharedReceiveQueue', 'a SharedReceiveQueue', sharedReceiveQueue);
    }
    if (sharedReceiveQueue !== undefined) VerbsObject.requireOpen('createQueuePair', [sharedReceiveQueue]);
    if (sharedReceiveQueue !== undefined && sharedReceiveQueue.context !== context) {
      throw notMade('sharedReceiveQueue', 'of the same context', sharedReceiveQueue);
    }
    const { level = QualityOfServiceLevel.low } = options;
    if (!Object.values(QualityOfServiceLevel).includes(level)) {
      throw notMade('level', 'QualityOfServiceLevel.low or QualityOfServiceLevel.high', level);
    }
    const { checksumSecret = 0 } = options;
    checkRange('createQueuePair', 'checksumSecret', checksumSecret, 0, 0xffff_ffff);
    const driver = new QueuePairInDevice(context.driver, {
      protectionDomain: protectionDomain.driver,
      serviceType,
      sendQueue: {
        entries: capabilities.maxSendWorkRequests ?? 128,
        gatherEntries: capabilities.maxGatherEntries ?? 4,
        inlineBytes: capabilities.maxInlineData ?? 64,
      },
      ...(sharedReceiveQueue === undefined
        ? {
            receiveQueue: {
              entries: capabilities.maxReceiveWorkRequests ?? 128,
              scatterEntries: capabilities.maxScatterEntries ?? 4,
            },
          }
        : { sharedReceiveQueue: sharedReceiveQueue.driver }),
      sendCompletionQueue: sendCompletionQueue.driver.number,
      receiveCompletionQueue: receiveCompletionQueue.driver.number,
      level,
      checksumSecret,
      ...(options.signalAll === undefined ? {} : { signalAll: options.signalAll }),
    });
    return new QueuePair(protectionDomain, completionQueues, sharedReceiveQueue, type, driver);
  }

  /** Queue pair number, 24 bits: the peer's destination queue pair. Constant unless a reset requests another one: {@link QueuePairAttributes.newNumber}. */
  get number(): number {
    return this.driver.virtualNumber;
  }

  /**
   * Changes state and attributes. If it fails, it changes nothing. The change to RTR waits for the end of a time-wait of at most 8 s and
   * holds the event loop meanwhile; {@link modifyAsync} does not.
   * @throws VerbsError EINVAL, which names the attribute that is missing or not allowed in this transition, and the right value; EAGAIN: the
   * number is in a longer time-wait, or all are; `retryAfter` says how long
   */
  modify(attributes: QueuePairAttributes): void {
    this.change(attributes, false);
  }

  /**
   * Changes state and attributes as {@link modify} does, and awaits the end of a time-wait, however long, without holding the event loop.
   * Nothing is changed before. `timeout` limits the whole wait.
   * @throws as {@link modify}, but for the time-wait of its number; the signal's reason; DOMException TimeoutError
   */
  async modifyAsync(attributes: QueuePairAttributes, wait: WaitOptions = {}): Promise<void> {
    const deadline = deadlineOf(wait);
    for (;;) {
      wait.signal?.throwIfAborted();
      const left = this.changeUnlessInTimeWait(attributes);
      if (left === 0) return;
      await sleep(Math.min(left, longestSleep), wait, deadline);
    }
  }

  /** Returns attributes and positions from the device. The state changes by itself when a work request fails. */
  query(): QueuePairQuery {
    this.requireOpen('queryQueuePair');
    const known = this.driver.query();
    this.state = known.state;
    return known;
  }

  /**
   * Posts one work request to the send queue, or several with one doorbell. The driver keeps no reference to the arguments. The memory that
   * they name belongs to the device until they complete.
   * @throws VerbsError EINVAL: a required field is missing, a field exceeds the queue's capabilities, or the queue pair's state does not
   * allow it; ENOMEM: the queue is full; RangeError: wrId. For a batch, `posted` gives the number of work requests posted before the faulty
   * one.
   */
  postSend(requests: SendRequest | readonly SendRequest[]): void {
    this.requireSending();
    if (isBatch(requests)) this.postBatch(requests);
    else {
      check(this.driver.serviceType, requests);
      this.driver.post(requests);
    }
  }

  /**
   * Checks and encodes a work request once, for a loop that repeats it: posting it then takes a fraction of the instructions. Its memory
   * must stay registered. Inline data is copied now.
   * @throws VerbsError, TypeError, RangeError: as {@link postSend}
   */
  prepareSend(request: SendRequest): PreparedSend {
    this.requireOpen('prepareSend');
    checkSendWorkRequest(this.driver.serviceType, request);
    return new PreparedSend(this, this.driver.prepare(request));
  }

  /** Posts for {@link PreparedSend.post}. */
  postPreparedSend(command: PreparedCommand, wrId: number | bigint): void {
    this.requireSending();
    this.driver.postPrepared(command, wrId);
  }

  /**
   * Binds a memory window of type 1 with a work request. The returned key is valid from the completion of that work request on; the
   * previous key becomes invalid.
   * @param bind a slice of length 0 unbinds the window
   * @throws VerbsError EINVAL: a window of type 2, which {@link postSend} binds; as {@link postSend}
   */
  bindMemoryWindow(window: MemoryWindow, { memory, access, ...request }: BindMemoryWindowOptions): number {
    this.requireOpen('bindMemoryWindow');
    VerbsObject.requireOpen('bindMemoryWindow', [window]);
    if (window.type !== 1) {
      throw new VerbsError(`${window.label} is of type 2`, {
        code: 'EINVAL',
        verb: 'bindMemoryWindow',
        attribute: 'type',
        expected: 'a window of type 1; one of type 2 is bound by postSend',
      });
    }
    const key = nextRemoteKey(window.remoteKey);
    this.postSend({ ...request, opcode: Opcode.bindMemoryWindow, bind: { key, memory, access } });
    window.bound(key);
    return key;
  }

  /**
   * Posts one receive work request, or several. The driver keeps no reference to the arguments. The memory that they name belongs to the
   * device until they complete.
   * @throws VerbsError EINVAL: too many scatter entries for the queue, or a queue pair in RESET; ENOMEM: the queue is full; RangeError:
   * wrId. For a batch, `posted` gives the number of work requests posted before the faulty one.
   */
  postReceive(requests: ReceiveRequest | readonly ReceiveRequest[]): void {
    this.requireReceiving();
    if (isBatch(requests)) this.driver.postReceiveBatch(requests);
    else this.driver.postReceive(requests);
  }

  /**
   * Checks and encodes a receive work request once, as {@link prepareSend} does.
   * @throws VerbsError, TypeError, RangeError: as {@link postReceive}
   */
  prepareReceive(request: ReceiveRequest): PreparedReceive {
    this.requireOpen('prepareReceive');
    return new PreparedReceive(this, this.driver.prepareReceive(request));
  }

  /** Posts for {@link PreparedReceive.post}. */
  postPreparedReceive(entry: PreparedEntry, wrId: number | bigint): void {
    this.requireReceiving();
    this.driver.postPreparedReceive(entry, wrId);
  }

  /**
   * Attaches the queue pair to a multicast group: it then receives the group's datagrams. Each member consumes its own receive work
   * request. Closing detaches.
   * @param gid MGID, 16 bytes: ff…, or an IPv4 group as ::ffff:a.b.c.d
   * @throws VerbsError EINVAL: not an unreliable datagram queue pair, or not an MGID; ENOMEM: the device has no room for a member;
   * ENETUNREACH: a UDP link of the other IP version, or without a route to the group
   */
  attachMulticast(gid: Uint8Array): void {
    this.requireOpen('attachMulticast');
    this.driver.attachMulticast(gid);
  }

  /** Detaches the queue pair from a multicast group. @throws VerbsError EINVAL: it is not attached to this group */
  detachMulticast(gid: Uint8Array): void {
    this.requireOpen('detachMulticast');
    this.driver.detachMulticast(gid);
  }

  protected destroy(): void {
    this.driver.destroy();
  }

  private change(attributes: QueuePairAttributes, bindAtOnce: boolean): void {
    this.requireOpen('modifyQueuePair');
    checkTransition(this.driver.serviceType, attributes.currentState ?? this.state, attributes);
    this.driver.modify(attributes, bindAtOnce);
    this.state = attributes.state ?? this.state;
  }

  /** @returns milliseconds left of the time-wait for which nothing was changed, or 0 */
  private changeUnlessInTimeWait(attributes: QueuePairAttributes): number {
    try {
      this.change(attributes, true);
      return 0;
    } catch (error) {
      if (error instanceof VerbsError && error.attribute === 'state' && error.retryAfter !== undefined)
        return error.retryAfter;
      throw error;
    }
  }

  private requireSending(): void {
    this.requireOpen('postSend');
    if (this.state < readyToSend) throw this.notReady('postSend', 'QueuePairState.readyToSend');
  }

  private requireReceiving(): void {
    this.requireOpen('postReceive');
    if (this.state === reset) throw this.notReady('postReceive', 'QueuePairState.init or later');
  }

  private postBatch(requests: readonly SendRequest[]): void {
    for (let index = 0; index < requests.length; index++) {
      try {
        checkSendWorkRequest(this.driver.serviceType, requests[index]!);
      } catch (error) {
        this.driver.postBatch(requests.slice(0, index));
        inElement('requests', index, error as Error);
        throw Object.assign(error as Error, { posted: index });
      }
    }
    this.driver.postBatch(requests);
  }

  private notReady(verb: string, expected: string): VerbsError {
    return new VerbsError(
      `${this.label} is in ${enumText('QueuePairState', queuePairStateNames, this.state)}, which takes no work requests here; expected: ${expected}`,
      {
        code: 'EINVAL',
        verb,
        attribute: 'state',
        expected,
      },
    );
  }
}

function notMade(path: string, expected: string, value: unknown): VerbsError {
  return invalid('createQueuePair', path, expected, value);
}

function wrongQueue(options: Omit<QueuePairOptions, 'type'>): TypeError {
  const name = completionQueueNames.find((each) => !(options[each] instanceof CompletionQueue))!;
  return wrongType(name, 'a CompletionQueue', options[name]);
}
