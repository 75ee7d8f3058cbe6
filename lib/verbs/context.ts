import type { BoardFacts } from '../board/index.ts';
import { VerbsError } from '../driver/errors.ts';
import type { DeviceEvent } from '../driver/event_queue.ts';
import type { FunctionLimits, HcaDriver } from '../driver/hca_driver.ts';
import type { Identity } from '../driver/identity.ts';
import { KickRecord, KickRecordRing } from '../driver/kick_records.ts';
import { KickJoiner, type Kick } from '../driver/kicks.ts';
import { Patience, type WaitOptions } from './patience.ts';

/** What is known of an open device. */
export interface DeviceInfo {
  readonly identity: Identity;
  readonly underlyingFunction: number;
  readonly limits: FunctionLimits;
  /** How its registers are reached, and who lets it work. */
  readonly board: BoardFacts;
}

const recordsAtOnce = 64;

/** An open device: one underlying function. It is used by one thread. */
export class Context {
  /** The driver below; for tools. */
  readonly driver: HcaDriver;
  private readonly control: HcaDriver | undefined;
  private records: KickRecordRing | undefined;

  /**
   * Takes over a driver. {@link openDevice} makes one.
   * @param control driver of the control function of a board that nobody else has; closed with this device
   */
  constructor(driver: HcaDriver, control?: HcaDriver) {
    this.driver = driver;
    this.control = control;
  }

  get closed(): boolean {
    return this.driver.closed;
  }

  /** Who the device is, and what this function of it may have. */
  query(): DeviceInfo {
    this.refuseClosed('queryDevice');
    const { device, limits } = this.driver;
    const { identity, underlyingFunction, board } = device;
    return { identity, underlyingFunction, limits, board: board.facts() };
  }

  /** The oldest asynchronous event that was not taken; undefined: there is none. */
  pollEvent(): DeviceEvent | undefined {
    this.refuseClosed('getAsyncEvent');
    return this.driver.events.poll();
  }

  /**
   * The kicks of this function from now on: when the first write of a command came, when it was kicked, when it was sent. The
   * device writes records while this runs, and not before or after.
   * @throws VerbsError EBUSY: somebody observes them already; AbortError, TimeoutError as the options say
   */
  async *kicks(options: WaitOptions = {}): AsyncGenerator<Kick, void, undefined> {
    this.observeKicks();
    try {
      const records = Array.from({ length: recordsAtOnce }, () => new KickRecord());
      const joiner = new KickJoiner();
      for (const patience = new Patience(options); ;) {
        const count = this.pollKicks(records);
        for (let index = 0; index < count; index++) yield* joiner.take(records[index]!);
        if (count > 0) patience.refresh();
        else await patience.wait();
      }
    } finally {
      this.ignoreKicks();
    }
  }

  /** Lets the device write kick records, for {@link pollKicks}. @throws VerbsError EBUSY: it does already */
  observeKicks(): void {
    this.refuseClosed('observeKicks');
    if (this.records !== undefined) {
      throw new VerbsError('the kicks of this device are observed already', {
        code: 'EBUSY',
        verb: 'observeKicks',
        expected: 'one observer at a time',
      });
    }
    this.records = new KickRecordRing(this.driver.device);
  }

  /** Takes kick records into the caller's objects, without waiting. Gives how many; 0 also while nobody observes. */
  pollKicks(records: readonly KickRecord[]): number {
    return this.records?.poll(records) ?? 0;
  }

  /** No more kick records. */
  ignoreKicks(): void {
    const { records } = this;
    this.records = undefined;
    if (!this.closed) records?.close();
  }

  /** Closes the device: its function is reset, and all that was made on it is gone. Twice is once. */
  close(): void {
    this.records = undefined;
    this.driver.close();
    this.control?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private refuseClosed(verb: string): void {
    if (!this.closed) return;
    throw new VerbsError('the device is closed', { code: 'EBADF', verb, expected: 'an open device' });
  }
}
