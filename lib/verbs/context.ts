import {
  formatDeviceString,
  newServedPath,
  openFreeFunction,
  parseDeviceString,
  type BoardFacts,
  type DeviceName,
  type ServedBoard,
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
import { PacedPoll, type PacedPollOptions } from './paced_poll.ts';
import { PollingWait, type WaitOptions } from './polling_wait.ts';
import { ProtectionDomain } from './protection_domain.ts';
import { senderAddress } from './sender_address.ts';
import { VerbsObject } from './verbs_object.ts';

/** Identity, limits and access path of an open device. */
export interface DeviceInfo {
  /** Design, version and sizes of the device. */
  readonly identity: Identity;
  /** Number of the underlying function, 0 to 7. */
  readonly underlyingFunction: number;
  /** Maximum numbers of objects of this function. */
  readonly limits: FunctionLimits;
  /** How the driver reaches the registers, and which thread advances the device. */
  readonly board: BoardFacts;
}

const recordsAtOnce = 64;
/** log2 of the kick records that the device keeps for an observer. */
const kickRecordsLog2 = 10;

/** Options for creating a completion queue. */
export interface CompletionQueueOptions {
  /** Number of completions that the queue holds, rounded up to a power of two, at most 32768. Default 256. */
  readonly entries?: number;
  /** A completion channel of the same context, which waits for all its queues together. */
  readonly channel?: CompletionChannel;
}

/** The kicks that {@link Context.observeKicks} observes. */
export interface ObserveKicksOptions {
  /** Those of all functions of the board; for the control function, on any backend. Default false: those of this function. */
  readonly allFunctions?: boolean | undefined;
}

/** Options of {@link Context.kicks}. */
export interface KicksOptions extends WaitOptions, ObserveKicksOptions {}

/** Token from {@link Context.share} for {@link Context.from}. It can be sent to a worker. */
export interface ContextToken {
  /** Device string of the board. */
  readonly device: string;
}

/** Origin of a context. */
export interface ContextOrigin {
  /** Driver of the control function, if the board belongs to this context alone; closed with the context. */
  readonly control?: HcaDriver;
  /** The device string passed to open. */
  readonly name?: DeviceName;
}

/** An open device: one underlying function. Only one thread uses it and the objects created from it. */
export class Context extends VerbsObject {
  readonly label: string;
  /** The driver below, for tools. */
  readonly driver: HcaDriver;
  private readonly origin: ContextOrigin;
  private records: KickRecordRing | undefined;
  private completionEvents: CompletionEvents | undefined;
  private pacedKicks: PacedPoll | undefined;

  /** Takes ownership of a driver. {@link openDevice} makes one. */
  constructor(driver: HcaDriver, origin: ContextOrigin = {}) {
    super([]);
    this.driver = driver;
    this.origin = origin;
    this.label = 'the device';
  }

  /**
   * Opens the board of another thread's context, from the token that {@link share} returned there. The new context gets the lowest free
   * underlying function. Several threads may use the same token. Close the new context before the shared one.
   * @throws TypeError: not a token; VerbsError EBUSY: every function is open; ENODEV: the shared context is closed
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
   * Returns a token with which other threads open the same board: {@link Context.from}. Objects stay on their thread. Queue pairs of two
   * threads connect as those of two boards do.
   * @throws VerbsError ENOTSUP: the context was created from an open function, not from a device string
   */
  share(): ContextToken {
    this.requireOpen('share');
    const { name } = this.origin;
    if (name !== undefined) return { device: formatDeviceString(name) };
    throw new VerbsError('the context was created from an open function, which other threads cannot find', {
      code: 'ENOTSUP',
      verb: 'share',
      expected: 'a context that was opened by a device string',
    });
  }

  /** Returns the identity of the device and the limits of this function. */
  queryDevice(): DeviceInfo {
    this.requireOpen('queryDevice');
    const { device, limits } = this.driver;
    const { identity, underlyingFunction, board } = device;
    return { identity, underlyingFunction, limits, board: board.facts() };
  }

  /** Returns state, address and tables of a port. @param port from 1 @throws VerbsError EINVAL: there is no such port */
  queryPort(port = 1): PortAttributes {
    this.requireOpen('queryPort');
    const { ports } = this.driver.device.identity;
    checkRange('queryPort', 'port', port, 1, ports);
    return queryPort(this.driver.management, port);
  }

  /**
   * Returns an entry of a port's GID table: 16 bytes in wire order.
   * @param index 0: link-local, derived from the port's address
   * @throws VerbsError EINVAL: there is no such port; RangeError: the table has no such entry
   */
  queryGid(port = 1, index = 0): Uint8Array {
    const { gids } = this.queryPort(port);
    const gid = gids[index];
    if (gid === undefined) throw wrongRange('index', `0 to ${gids.length - 1}`, index);
    return gid;
  }

  /**
   * Returns an entry of a port's P_Key table.
   * @throws VerbsError EINVAL: there is no such port; RangeError: the table has no such entry
   */
  queryPartitionKey(port = 1, index = 0): number {
    const { partitionKeys } = this.queryPort(port);
    const partitionKey = partitionKeys[index];
    if (partitionKey === undefined) throw wrongRange('index', `0 to ${partitionKeys.length - 1}`, index);
    return partitionKey;
  }

  /**
   * Writes an entry of a port's P_Key table, as its subnet manager would.
   * @param partitionKey 16 bits, bit 15 for full membership; 0: no key
   * @throws VerbsError EPERM: only the control function may do this; EINVAL: there is no such port or entry
   */
  setPartitionKey(port: number, index: number, partitionKey: number): void {
    this.requireOpen('setPartitionKey');
    setPartitionKey(this.driver.management, port, index, partitionKey);
  }

  /**
   * Returns the address vector for a reply to a datagram, as ibv_init_ah_from_wc does.
   * @param port that received the datagram, from 1
   * @param globalRoute the first 40 B of the receive buffer
   * @throws RangeError fewer than 40 B although the datagram has a GRH
   */
  initAddressVectorFromCompletion(
    port: number,
    completion: Completion,
    globalRoute: Uint8Array,
  ): AddressVector {
    return senderAddress(port, this.queryPort(port), completion, globalRoute);
  }

  /**
   * Returns the division of the device's resources: the share of a function, the part shared by all functions, or the share of a lane.
   * @param query default: this function's share
   * @throws VerbsError EPERM: only the control function may query another function; EINVAL: there is no such function or lane
   */
  queryResources(query: ResourceQuery = this.driver.device.underlyingFunction): ResourceShare[] {
    this.requireOpen('queryResources');
    return queryResources(this.driver.management, query);
  }

  /** Returns the credits that this function's levels own and hold now, both their own and shared ones. */
  queryCredits(): LevelCredits[] {
    this.requireOpen('queryCredits');
    return readCredits(this.driver.device);
  }

  /**
   * Divides resources: applies all changes or none, whatever their order. The control function divides among functions, levels and lanes;
   * any other function divides its share between its levels. Resources in use above a new amount drain.
   * @throws VerbsError ENOMEM: names the resource, the amount requested and the amount available; EPERM: this function may not change it;
   * EINVAL: names the request and its field; RangeError: no change, more than 255, or an impossible lane
   */
  allocateResources(requests: readonly ResourceRequest[]): void {
    this.requireOpen('allocateResources');
    const { management, device } = this.driver;
    allocateResources(management, device.underlyingFunction, requests);
  }

  /**
   * Disables the device for all its functions (US8589610, physical function). Its ports go down, each function gets the event `portError`,
   * and its queue pairs enter the error state: posted work completes as flushed, and later sends fail with ENETDOWN. The device drops and
   * counts arriving packets and written commands, and writes only completions, events and kick records to memory. All objects stay; they
   * can be queried, reset and closed. {@link enableDevice} restarts the device.
   * @throws VerbsError EPERM: this is not the control function
   */
  disableDevice(): void {
    this.requireOpen('disableDevice');
    this.driver.setDeviceEnabled(false);
  }

  /**
   * Enables a disabled device: its ports come up, and each function gets the event `portActive`. Queue pairs stay in the error state until
   * they are reset and connected again. Has no effect on an enabled device.
   * @throws VerbsError EPERM: this is not the control function; EIO: the device was reset meanwhile
   */
  enableDevice(): void {
    this.requireOpen('enableDevice');
    this.driver.setDeviceEnabled(true);
  }

  /**
   * Lets other processes of this user observe this function, of all functions where it is the control function, on any backend: their
   * commands take the device string `serve:NAME`. They change nothing, the device never waits for them, and without one that watches
   * nothing is written for them. A thread of this process serves them. On PCIe they have the function's kick records, which
   * {@link kicks} then does not read, and its last event queue; packets and completions are observed on emulated boards only.
   * @param name name in device strings, or path of a socket, which contains a slash
   * @returns close() ends it, as does the end of this context
   * @throws VerbsError EBUSY: it is shared already, or this process reads kick records; EINVAL: another process has the name; ENOMEM: no
   * memory; ENOTSUP: the board of a server, which hands out its observation itself; Error EACCES: as {@link newServedPath}
   */
  shareObservation(name: string): ServedBoard {
    this.requireOpen('shareObservation');
    return this.driver.shareObservation(newServedPath(name));
  }

  /** Takes the oldest asynchronous event; undefined: there is none. */
  pollEvent(): DeviceEvent | undefined {
    this.requireOpen('getAsyncEvent');
    return this.driver.events.poll();
  }

  /**
   * Yields the kicks of this function from now on, or with `allFunctions` those of all: when the first write of a command arrived, when it
   * was kicked, when it was sent. The device writes kick records only while this runs.
   * @throws VerbsError EBUSY: another observer runs; EPERM: only the control function observes all functions; ENODEV: the device is gone;
   * AbortError, TimeoutError according to the options
   */
  async *kicks({ allFunctions, ...options }: KicksOptions = {}): AsyncGenerator<Kick, void, undefined> {
    this.observeKicks({ allFunctions });
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

  /**
   * Makes the device write kick records, for {@link pollKicks}.
   * @throws VerbsError EBUSY: another observer runs; EPERM: only the control function observes all functions
   */
  observeKicks({ allFunctions = false }: ObserveKicksOptions = {}): void {
    this.requireOpen('observeKicks');
    if (this.records !== undefined) {
      throw new VerbsError('another observer already reads the kicks of this device', {
        code: 'EBUSY',
        verb: 'observeKicks',
        expected: 'one observer at a time',
      });
    }
    this.records = new KickRecordRing(this.driver.device, kickRecordsLog2, allFunctions);
  }

  /** Copies kick records into the caller's objects without waiting. Returns their number; 0 if there is no observer. */
  pollKicks(records: readonly KickRecord[]): number {
    return this.records?.poll(records) ?? 0;
  }

  /**
   * Polls until there is a kick record, as {@link pollKicks} does, and uses the processor meanwhile: for a program that has just posted.
   * The first look is put off as that of {@link CompletionQueue.pollPaced} is.
   * @returns the number of objects filled in; 0: `timeout` is up, or there is no observer
   * @throws TypeError, RangeError: timeout
   */
  pollKicksPaced(records: readonly KickRecord[], options: PacedPollOptions = {}): number {
    if (this.records === undefined) return 0;
    this.pacedKicks ??= new PacedPoll(this.isDrivenByPolling);
    return this.pacedKicks.run(this.records, records, options);
  }

  /** Whether polling drives the device: else it works on its own. */
  get isDrivenByPolling(): boolean {
    return this.driver.device.board.facts().progress !== 'own';
  }

  /** Stops the kick records. */
  ignoreKicks(): void {
    const { records } = this;
    this.records = undefined;
    if (!this.closed) records?.close();
  }

  /** Creates a protection domain. @throws VerbsError ENOMEM: the device has none left */
  createProtectionDomain(): ProtectionDomain {
    this.requireOpen('createProtectionDomain');
    return new ProtectionDomain(this, new DomainInDevice(this.driver.management));
  }

  /** Creates a completion queue. @throws VerbsError EINVAL: a size beyond the device's limit; ENOMEM: the device has none left */
  createCompletionQueue({ entries = 256, channel }: CompletionQueueOptions = {}): CompletionQueue {
    this.requireOpen('createCompletionQueue');
    if (channel !== undefined) this.requireOwn(channel);
    this.completionEvents ??= new CompletionEvents(this.driver);
    const { eventQueue } = this.completionEvents;
    const made = new CompletionQueueInDevice(this.driver, { entries, eventQueue });
    return new CompletionQueue(this, made, this.completionEvents, channel);
  }

  /** Creates a channel, which waits for several completion queues together. */
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
