import type { BoardFunction, Interrupt } from '../board/addon.ts';
import type { QueuePairFacts, RegionFacts, Watch, WatchedEvent } from '../board/observation.ts';
import { KICK_RECORD_BYTES } from '../spec/index.ts';
import { DeviceFunction } from './device_function.ts';
import { deviceGone } from './errors.ts';
import { KickRecord, readKickRecord } from './kick_records.ts';
import { KickJoiner, type Kick } from './kicks.ts';

/** Records that are taken at once. */
const recordsAtOnce = 4096;
/** Bytes of packets that are taken at once: more than the largest block. */
const packetBytesAtOnce = 1 << 20;

/**
 * An observer of a board: it gets the events and objects of the observed function, or of all functions if
 * that is the control function. It opens no function and changes nothing, and the board never waits for it: a
 * slow observer loses records, and learns how many.
 */
export class Observer {
  readonly device: DeviceFunction;
  private readonly removal: Interrupt | undefined;

  /**
   * Takes over an observed function; close() closes it.
   * @throws VerbsError as {@link DeviceFunction}
   */
  constructor(board: BoardFunction) {
    this.device = new DeviceFunction(board);
    const { loss } = this.device;
    this.removal = board.removal((reason) => loss.report(deviceGone('observe', reason)));
  }

  /** Queue pairs that exist now. @throws VerbsError ENODEV: the device is gone; Error ENOTSUP: its backend has no observers */
  queuePairs(): QueuePairFacts[] {
    return this.queuePairsAndNumbers().filter(({ timeWaitLeft }) => timeWaitLeft === 0);
  }

  /** Numbers in time-wait, and the queue pairs that had them (US7095750). @throws as {@link queuePairs} */
  timeWaits(): QueuePairFacts[] {
    return this.queuePairsAndNumbers().filter(({ timeWaitLeft }) => timeWaitLeft > 0);
  }

  /** Memory regions and windows that exist now. @throws as {@link queuePairs} */
  regions(): RegionFacts[] {
    this.checkLoss();
    return this.device.board.regions();
  }

  /** Watches kicks from now on. @throws as {@link queuePairs} */
  watchKicks(): KickWatch {
    return new KickWatch(this.device.board.watch('kicks'), () => this.checkLoss());
  }

  /** Watches asynchronous events from now on. @throws as {@link queuePairs} */
  watchEvents(): EventWatch {
    return new EventWatch(this.device.board.watch('events'), () => this.checkLoss());
  }

  /** Watches the packets at the ports from now on. @throws as {@link queuePairs}; Error ENOTSUP: not the control function */
  watchPackets(): PacketWatch {
    return new PacketWatch(this.device.board.watch('packets'), () => this.checkLoss());
  }

  close(): void {
    this.removal?.close();
    this.device.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private queuePairsAndNumbers(): QueuePairFacts[] {
    this.checkLoss();
    return this.device.board.queuePairs();
  }

  private checkLoss(): void {
    const { reason } = this.device.loss;
    if (reason !== undefined) throw reason;
  }
}

/** Kicks that an observer watches. */
export class KickWatch {
  private readonly watch: Watch;
  private readonly check: () => void;
  private readonly bytes = new Uint8Array(recordsAtOnce * KICK_RECORD_BYTES);
  private readonly view = new DataView(this.bytes.buffer);
  private readonly record = new KickRecord();
  private joiner = new KickJoiner();
  private lostBefore = 0;

  constructor(watch: Watch, check: () => void) {
    this.watch = watch;
    this.check = check;
  }

  /** Records, two of a kick, that it did not get. */
  get lost(): number {
    return this.watch.lost();
  }

  /** Kicks that are complete, oldest first; none: there is nothing yet. @throws VerbsError ENODEV: the device is gone */
  take(): Kick[] {
    this.check();
    const kicks: Kick[] = [];
    const bytes = this.watch.take(this.bytes);
    if (this.lost !== this.lostBefore) {
      this.lostBefore = this.lost;
      this.joiner = new KickJoiner(); // what would join may be lost
    }
    for (let at = 0; at < bytes; at += KICK_RECORD_BYTES) {
      readKickRecord(this.view, at, this.record);
      kicks.push(...this.joiner.take(this.record));
    }
    return kicks;
  }

  close(): void {
    this.watch.close();
  }
}

/** Asynchronous events that an observer watches. */
export class EventWatch {
  private readonly watch: Watch;
  private readonly check: () => void;

  constructor(watch: Watch, check: () => void) {
    this.watch = watch;
    this.check = check;
  }

  /** Events that it did not get. */
  get lost(): number {
    return this.watch.lost();
  }

  /** Oldest first. @throws VerbsError ENODEV: the device is gone */
  take(): WatchedEvent[] {
    this.check();
    return this.watch.takeEvents();
  }

  close(): void {
    this.watch.close();
  }
}

/** Packets that an observer watches, as a pcapng file. */
export class PacketWatch {
  /** The head of the file. */
  readonly head: Uint8Array;
  private readonly watch: Watch;
  private readonly check: () => void;
  private readonly bytes = new Uint8Array(packetBytesAtOnce);

  constructor(watch: Watch, check: () => void) {
    this.watch = watch;
    this.check = check;
    this.head = watch.preamble;
  }

  /** Packets that it did not get. */
  get lost(): number {
    return this.watch.lost();
  }

  /** Whole blocks of the file; good until the next call. @throws VerbsError ENODEV: the device is gone */
  take(): Uint8Array {
    this.check();
    return this.bytes.subarray(0, this.watch.take(this.bytes));
  }

  close(): void {
    this.watch.close();
  }
}
