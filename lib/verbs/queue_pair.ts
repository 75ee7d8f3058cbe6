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
import { checkTransition } from './queue_pair_transitions.ts';
import { checkSendWorkRequest } from './send_work_request.ts';
import { SharedReceiveQueue } from './shared_receive_queue.ts';
import { VerbsObject } from './verbs_object.ts';

/** Sizes of the queues of a queue pair. */
export interface QueuePairCapabilities {
  /** Work requests of the send queue; a power of two up to 32768 is used, at least this many. Default 128. */
  readonly maxSendWorkRequests?: number;
  /** Work requests of the receive queue, likewise. Default 128. */
  readonly maxReceiveWorkRequests?: number;
  /** Most entries of a gather list, up to 16. Default 4. */
  readonly maxGatherEntries?: number;
  /** Most entries of a scatter list, up to 16. Default 4. */
  readonly maxScatterEntries?: number;
  /** Most inline data, bytes up to 256. Default 64. */
  readonly maxInlineData?: number;
}

/** The transport services, as libibverbs calls them. */
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
const completionQueueNames = ['sendCompletionQueue', 'receiveCompletionQueue'] as const;

/** Transport service: reliable connection, unreliable connection, unreliable datagram (InfiniBand volume 1, 3.2.2). */
export type QueuePairType = keyof typeof serviceTypes;

/** How a queue pair is made. */
export interface QueuePairOptions {
  /** Transport service: reliable connection, unreliable connection, unreliable datagram. */
  readonly type: QueuePairType;
  /** Of the same context. */
  readonly sendCompletionQueue: CompletionQueue;
  /** Of the same context; may be the same one. */
  readonly receiveCompletionQueue: CompletionQueue;
  /** Sizes of its queues. */
  readonly capabilities?: QueuePairCapabilities;
  /** Where it takes receive work requests, of any protection domain; its own capabilities of receives do not count then. */
  readonly sharedReceiveQueue?: SharedReceiveQueue;
  /** Every work request is signaled. */
  readonly signalAll?: boolean;
  /** Quality of service level. Default low. */
  readonly level?: QualityOfServiceLevel;
  /**
   * Secret that the doorbell checksum of a work request posted with `checksum` covers, 32 bits: a command that was mixed with, or
   * forged by, one that does not know it never executes (US8589610, doorbell checksum state). Default 0.
   */
  readonly checksumSecret?: number;
}

/** How a memory window of type 1 is bound. */
export interface BindMemoryWindowOptions
  extends Omit<WindowBinding, 'key'>, Pick<SendRequest, 'wrId' | 'signaled' | 'fence'> {}

/** A queue pair. */
export class QueuePair extends VerbsObject {
  readonly label: string;
  /** The driver's object; for tools. */
  readonly driver: QueuePairInDevice;
  /** Transport service. */
  readonly type: QueuePairType;
  /** As far as is known here. */
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

  /** 24 bits: what the peer names as its destination queue pair. It stays, unless a reset asks for another one: {@link QueuePairAttributes.newNumber}. */
  get number(): number {
    return this.driver.virtualNumber;
  }

  /**
   * Changes state and attributes. Nothing is changed when it fails.
   * @throws VerbsError EINVAL, which names what is missing or not allowed in this transition, and what would be right
   */
  modify(attributes: QueuePairAttributes): void {
    this.requireOpen('modifyQueuePair');
    checkTransition(this.driver.serviceType, attributes.currentState ?? this.state, attributes);
    this.driver.modify(attributes);
    this.state = attributes.state ?? this.state;
  }

  /** Attributes and positions as the device has them; its state changes by itself when a work request fails. */
  query(): QueuePairQuery {
    this.requireOpen('queryQueuePair');
    const known = this.driver.query();
    this.state = known.state;
    return known;
  }

  /**
   * Posts a work request to the send queue, or several by one doorbell. The arguments are not kept; memory that they name is the
   * device's until they complete.
   * @throws VerbsError EINVAL: the operation lacks something, or is larger than the queue was made for; the queue pair's state takes
   * none; ENOMEM: the queue is full; RangeError: wrId. Of a batch, `posted` says how many were taken before the one that is wrong.
   */
  postSend(requests: SendRequest | readonly SendRequest[]): void {
    this.requireSending();
    if (isBatch(requests)) this.postBatch(requests);
    else {
      checkSendWorkRequest(this.driver.serviceType, requests);
      this.driver.post(requests);
    }
  }

  /**
   * Checks and encodes a work request once, for a loop that repeats it: posting it then takes a fraction of the instructions. The memory
   * that it names must stay registered; inline data is that of now.
   * @throws VerbsError, TypeError, RangeError: as {@link postSend}
   */
  prepareSend(request: SendRequest): PreparedSend {
    this.requireOpen('prepareSend');
    checkSendWorkRequest(this.driver.serviceType, request);
    return new PreparedSend(this, this.driver.prepare(request));
  }

  /** For {@link PreparedSend.post}. */
  postPreparedSend(command: PreparedCommand, wrId: number | bigint): void {
    this.requireSending();
    this.driver.postPrepared(command, wrId);
  }

  /**
   * Binds a memory window of type 1, by a work request of its own: the window has the key that this gives from its completion on, and
   * the one before is refused.
   * @param bind a slice of no length unbinds it
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
   * Posts a receive work request, or several. The arguments are not kept; memory that they name is the device's until they
   * complete.
   * @throws VerbsError EINVAL: more entries than the queue was made for, or a queue pair in RESET; ENOMEM: the queue is full;
   * RangeError: wrId. Of a batch, `posted` says how many were taken before the one that is wrong.
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

  /** For {@link PreparedReceive.post}. */
  postPreparedReceive(entry: PreparedEntry, wrId: number | bigint): void {
    this.requireReceiving();
    this.driver.postPreparedReceive(entry, wrId);
  }

  /**
   * Datagrams to a multicast group are received too, each member with a receive work request of its own. Closing detaches.
   * @param gid MGID, 16 bytes: ff…, or an IPv4 group as ::ffff:a.b.c.d
   * @throws VerbsError EINVAL: not of unreliable datagram, or no MGID; ENOMEM: the device has no place for a member; ENETUNREACH: a
   * UDP link of the other IP version, or without a route to the group
   */
  attachMulticast(gid: Uint8Array): void {
    this.requireOpen('attachMulticast');
    this.driver.attachMulticast(gid);
  }

  /** @throws VerbsError EINVAL: it is not attached to this group */
  detachMulticast(gid: Uint8Array): void {
    this.requireOpen('detachMulticast');
    this.driver.detachMulticast(gid);
  }

  protected destroy(): void {
    this.driver.destroy();
  }

  private requireSending(): void {
    this.requireOpen('postSend');
    if (this.state < QueuePairState.readyToSend)
      throw this.notReady('postSend', 'QueuePairState.readyToSend');
  }

  private requireReceiving(): void {
    this.requireOpen('postReceive');
    if (this.state === QueuePairState.reset)
      throw this.notReady('postReceive', 'QueuePairState.init or later');
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

function isBatch<Request>(requests: Request | readonly Request[]): requests is readonly Request[] {
  return Array.isArray(requests);
}

function notMade(path: string, expected: string, value: unknown): VerbsError {
  return invalid('createQueuePair', path, expected, value);
}

function wrongQueue(options: Omit<QueuePairOptions, 'type'>): TypeError {
  const name = completionQueueNames.find((each) => !(options[each] instanceof CompletionQueue))!;
  return wrongType(name, 'a CompletionQueue', options[name]);
}
