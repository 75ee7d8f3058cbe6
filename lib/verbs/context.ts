import {
  formatDeviceString,
  openFreeFunction,
  parseDeviceString,
  type BoardFacts,
  type DeviceName,
} from '../board/index.ts';
import { checkRange, wrongRange, wrongType } from '../driver/arguments.ts';
import type { AddressVector } from '../driver/address_vector.ts';
import { CompletionEvents } from '../driver/completion_events.ts';
import type { Completion } from '../driver/completion.ts';
import { CompletionQueue as CompletionQueueInDevice } from '../driver/completion_queue.ts';
import { readCredits, type LevelCredits } from '../driver/credits.ts';
import { VerbsError } from '../driver/errors.ts';
import type { DeviceEvent } from '../driver/event_queue.ts';
import { HcaDriver, type FunctionLimits } from '../driver/hca_driver.ts';
import type { Identity } from '../driver/identity.ts';
import { KickRecord, KickRecordRing } from '../driver/kick_records.ts';
import { KickJoiner, type Kick } from '../driver/kicks.ts';
import { queryPort, setPartitionKey, type PortAttributes } from '../driver/port.ts';
import { ProtectionDomain as DomainInDevice } from '../driver/protection_domain.ts';
import {
  allocateResources,
  queryResources,
  type ResourceQuery,
  type ResourceRequest,
  type ResourceShare,
} from '../driver/resources.ts';
import { CompletionChannel } from './completion_channel.ts';
import { CompletionQueue } from './completion_queue.ts';
import { PollingWait, type WaitOptions } from './polling_wait.ts';
import { ProtectionDomain } from './protection_domain.ts';
import { senderAddress } from './sender_address.ts';
import { VerbsObject } from './verbs_object.ts';

/** Identity, limits and access of an open device. */
export interface DeviceInfo {
  /** Design, version and sizes of the device. */
  readonly identity: Identity;
  /** Number of the function, 0 to 7. */
  readonly underlyingFunction: number;
  /** Most objects of this function. */
  readonly limits: FunctionLimits;
  /** How its registers are reached, and who lets it work. */
  readonly board: BoardFacts;
}

const recordsAtOnce = 64;

/** How a completion queue is made. */
export interface CompletionQueueOptions {
  /** Completions that it holds; a power of two up to 32768 is used, at least this many. Default 256. */
  readonly entries?: number;
  /** Of the same context: it is waited for together with the channel's others. */
  readonly channel?: CompletionChannel;
}

/** Token from {@link Context.share} for {@link Context.from}. It can be sent to a worker. */
export interface ContextToken {
  /** Device string of the board. */
  readonly device: string;
}

/** Where a context comes from. */
export interface ContextOrigin {
  /** Driver of the control function of a board of this context alone; closed with the context. */
  readonly control?: HcaDriver;
  /** The device string that was opened. */
  readonly name?: DeviceName;
}

/** An open device: one underlying function. It is used by one thread, as is all that is made of it. */
export class Context extends VerbsObject {
  readonly label: string;
  /** The driver below; for tools. */
  readonly driver: HcaDriver;
  private readonly origin: ContextOrigin;
  private records: KickRecordRing | undefined;
  private completionEvents: CompletionEvents | undefined;

  /** Takes over a driver. {@link openDevice} makes one. */
  constructor(driver: HcaDriver, origin: ContextOrigin = {}) {
    super([]);
    this.driver = driver;
    this.origin = origin;
    this.label = 'the device';
  }

  /**
   * Opens the board of another thread's context, from the token that {@link share} gave there: an underlying function of its own, the
   * lowest that is free. Each of several threads may use the same token. It is to be closed before the context that was shared.
   * @throws TypeError: no token; VerbsError EBUSY: every function is open; ENODEV: the context that was shared is closed
   */
  static from(token: ContextToken): Context {
    if (typeof token?.device !== 'string') {
      throw wrongType('token', 'the ContextToken that share() gave in another thread', token);
    }
    const name = parseDeviceString(token.device);
    const board = openFreeFunction(name);
    if (board === undefined) {
      throw new VerbsError('every underlying function of the board is open', {
        code: 'EBUSY',
        verb: 'openDevice',
        attribute: 'underlyingFunctions',
        expected: 'a context closed, or a board with more underlying functions',
      });
    }
    return new Context(new HcaDriver(board), { name });
  }

  /**
   * A token for other threads, which open the board by it: {@link Context.from}. Objects stay on their thread; queue pairs of two
   * threads are connected as those of two boards.
   * @throws VerbsError ENOTSUP: the context was made of an open function, not of a device string
   */
  share(): ContextToken {
    this.requireOpen('share');
    const { name } = this.origin;
    if (name !== undefined) return { device: formatDeviceString(name) };
    throw new VerbsError('the context was made of an open function, which other threads do not find', {
      code: 'ENOTSUP',
      verb: 'share',
      expected: 'a context that was opened by a device string',
    });
  }

  /** Identity of the device, and limits of this function. */
  queryDevice(): DeviceInfo {
    this.requireOpen('queryDevice');
    const { device, limits } = this.driver;
    const { identity, underlyingFunction, board } = device;
    return { identity, underlyingFunction, limits, board: board.facts() };
  }

  /** State, address and tables of a port. @param port from 1 @throws VerbsError EINVAL: there is no such port */
  queryPort(port = 1): PortAttributes {
    this.requireOpen('queryPort');
    const { ports } = this.driver.device.identity;
    checkRange('queryPort', 'port', port, 1, ports);
    return queryPort(this.driver.management, port);
  }

  /**
   * An entry of the GID table of a port: 16 bytes as on the wire.
   * @param index 0: link-local, from the port's address
   * @throws VerbsError EINVAL: there is no such port; RangeError: the table has no such entry
   */
  queryGid(port = 1, index = 0): Uint8Array {
    const { gids } = this.queryPort(port);
    const gid = gids[index];
    if (gid === undefined) throw wrongRange('index', `0 to ${gids.length - 1}`, index);
    return gid;
  }

  /**
   * An entry of the P_Key table of a port.
   * @throws VerbsError EINVAL: there is no such port; RangeError: the table has no such entry
   */
  queryPartitionKey(port = 1, index = 0): number {
    const { partitionKeys } = this.queryPort(port);
    const partitionKey = partitionKeys[index];
    if (partitionKey === undefined) throw wrongRange('index', `0 to ${partitionKeys.length - 1}`, index);
    return partitionKey;
  }

  /**
   * Writes an entry of the P_Key table of a port, as its subnet manager would.
   * @param partitionKey 16 bits; the high one is full membership; 0: none
   * @throws VerbsError EPERM: only the control function may; EINVAL: there is no such port or entry
   */
  setPartitionKey(port: number, index: number, partitionKey: number): void {
    this.requireOpen('setPartitionKey');
    setPartitionKey(this.driver.management, port, index, partitionKey);
  }

  /**
   * The way back to the sender of a datagram, as ibv_init_ah_from_wc gives it.
   * @param port where it was received, from 1
   * @param globalRoute the first 40 B of the memory that it was received into
   * @throws RangeError fewer than 40 B where there is a GRH
   */
  initAddressVectorFromCompletion(
    port: number,
    completion: Completion,
    globalRoute: Uint8Array,
  ): AddressVector {
    return senderAddress(port, this.queryPort(port), completion, globalRoute);
  }

  /**
   * How the device's resources are divided: what a function has, what all functions share, or what a lane has.
   * @param query default: this function's
   * @throws VerbsError EPERM: another function's, and this is not the control function; EINVAL: there is no such function or lane
   */
  queryResources(query: ResourceQuery = this.driver.device.underlyingFunction): ResourceShare[] {
    this.requireOpen('queryResources');
    return queryResources(this.driver.management, query);
  }

  /** The credits that this function's levels have and hold at the moment: their own, and shared ones. */
  queryCredits(): LevelCredits[] {
    this.requireOpen('queryCredits');
    return readCredits(this.driver.device);
  }

  /**
   * Divides resources anew: all changes or none, whatever their order. The control function divides among functions, levels and
   * lanes; another function what it has among its levels. Resources in use beyond a new amount drain.
   * @throws VerbsError ENOMEM: names the resource, how much was asked for, and how much there could be; EPERM: not this function's
   * to change; EINVAL: names the request and its field; RangeError: no change, more than 255, or a lane that there cannot be
   */
  allocateResources(requests: readonly ResourceRequest[]): void {
    this.requireOpen('allocateResources');
    const { management, device } = this.driver;
    allocateResources(management, device.underlyingFunction, requests);
  }

  /**
   * Disables the device, for all of its functions (US8589610, physical function). Its ports go down, each function gets the event `portError`, and
   * its queue pairs are in error: what is posted completes as flushed, and what is posted from then on is refused with ENETDOWN. Packets
   * that arrive and commands that are written are dropped and counted; no memory changes but by completions, events and kick records.
   * All objects stay, and can be queried, reset and closed. {@link enableDevice} lets it go on.
   * @throws VerbsError EPERM: this is not the control function
   */
  disableDevice(): void {
    this.requireOpen('disableDevice');
    this.driver.setDeviceEnabled(false);
  }

  /**
   * Enables a device that was disabled: its ports come up, and each function gets the event `portActive`. Queue pairs are in error until they are
   * reset and connected again. Nothing happens where it is enabled.
   * @throws VerbsError EPERM: this is not the control function; EIO: it was reset meanwhile
   */
  enableDevice(): void {
    this.requireOpen('enableDevice');
    this.driver.setDeviceEnabled(true);
  }

  /** The oldest asynchronous event that was not taken; undefined: there is none. */
  pollEvent(): DeviceEvent | undefined {
    this.requireOpen('getAsyncEvent');
    return this.driver.events.poll();
  }

  /**
   * The kicks of this function from now on: when the first write of a command came, when it was kicked, when it was sent. The
   * device writes records while this runs, and not before or after.
   * @throws VerbsError EBUSY: another observer has them; ENODEV: the device is gone; AbortError, TimeoutError as the options
   * say
   */
  async *kicks(options: WaitOptions = {}): AsyncGenerator<Kick, void, undefined> {
    this.observeKicks();
    const { watch } = this.driver;
    watch.hold();
    try {
      const records = Array.from({ length: recordsAtOnce }, () => new KickRecord());
      const joiner = new KickJoiner();
      for (const wait = new PollingWait(options); ;) {
        this.requireDevice();
        const count = this.pollKicks(records);
        for (let index = 0; index < count; index++) yield* joiner.take(records[index]!);
        if (count > 0) wait.refresh();
        else await wait.next();
      }
    } finally {
      watch.release();
      this.ignoreKicks();
    }
  }

  /** Lets the device write kick records, for {@link pollKicks}. @throws VerbsError EBUSY: it does already */
  observeKicks(): void {
    this.requireOpen('observeKicks');
    if (this.records !== undefined) {
      throw new VerbsError('the kicks of this device are observed already', {
        code: 'EBUSY',
        verb: 'observeKicks',
        expected: 'one observer at a time',
      });
    }
    this.records = new KickRecordRing(this.driver.device);
  }

  /** Takes kick records into the caller's objects, without waiting. Gives how many; 0 also without an observer. */
  pollKicks(records: readonly KickRecord[]): number {
    return this.records?.poll(records) ?? 0;
  }

  /** No more kick records. */
  ignoreKicks(): void {
    const { records } = this;
    this.records = undefined;
    if (!this.closed) records?.close();
  }

  /** @throws VerbsError ENOMEM: none is left */
  createProtectionDomain(): ProtectionDomain {
    this.requireOpen('createProtectionDomain');
    return new ProtectionDomain(this, new DomainInDevice(this.driver.management));
  }

  /** @throws VerbsError EINVAL: a size beyond the device's; ENOMEM: none is left */
  createCompletionQueue({ entries = 256, channel }: CompletionQueueOptions = {}): CompletionQueue {
    this.requireOpen('createCompletionQueue');
    if (channel !== undefined) this.requireOwn(channel);
    this.completionEvents ??= new CompletionEvents(this.driver);
    const { eventQueue } = this.completionEvents;
    const made = new CompletionQueueInDevice(this.driver, { entries, eventQueue });
    return new CompletionQueue(this, made, this.completionEvents, channel);
  }

  /** A channel, for completion queues that are waited for together. */
  createCompletionChannel(): CompletionChannel {
    this.requireOpen('createCompletionChannel');
    return new CompletionChannel(this);
  }

  private requireOwn(channel: CompletionChannel): void {
    VerbsObject.requireOpen('createCompletionQueue', [channel]);
    if (channel.context === this) return;
    throw new VerbsError('the completion channel is of another context', {
      code: 'EINVAL',
      verb: 'createCompletionQueue',
      attribute: 'channel',
      expected: 'a channel of the same context',
    });
  }

  private requireDevice(): void {
    const { reason: loss } = this.driver.device.loss;
    if (loss !== undefined) throw loss;
  }

  /** Resets the function of the device. */
  protected destroy(): void {
    this.records = undefined;
    this.driver.close();
    this.origin.control?.close();
  }
}
