import type { Watch } from '../board/observation.ts';
import {
  COMPLETION_QUEUE_ENTRY_BYTES,
  KICK_RECORD_BYTES,
  KickRecordType,
  getCompletionQueueEntryQueuePairNumber,
  getCompletionQueueEntrySequenceNumber,
  getCompletionQueueEntryTimestampHigh,
  getCompletionQueueEntryTimestampLow,
  getCompletionQueueEntryWorkQueue,
  getKickRecordKickNumber,
  getKickRecordType,
} from '../spec/index.ts';
import { KickRecord, readKickRecord } from './kick_records.ts';

/** The way of a command through the device. Times are device clock ticks; undefined: it has not come so far yet. */
export interface CommandWay {
  readonly underlyingFunction: number;
  readonly qualityOfServiceLevel: number;
  readonly queuePairNumber: number;
  /** 0xffff: none. */
  readonly virtualCollectBuffer: number;
  /** 0xffff: it found none. */
  readonly physicalCollectBuffer: number;
  /** When its first write came, or the scheduler fetched it. */
  readonly firstWrite: number;
  readonly kicked: number;
  transmitVirtualLane: number | undefined;
  /** When its last packet left. */
  sent: number | undefined;
  /** When its completion was written; of a command that asks for none it stays undefined. */
  completed: number | undefined;
}

/** Ways, since they were taken last. */
export interface TakenWays {
  /** Of those that are followed: they were kicked, have left, are complete. A way can be in all three. */
  readonly kicked: readonly CommandWay[];
  readonly sent: readonly CommandWay[];
  readonly completed: readonly CommandWay[];
  /** Commands that were kicked, those that are not followed too. */
  readonly kicks: number;
  /** Of how many commands one is followed: a power of two. */
  readonly oneOf: number;
}

/** Bytes that are taken of a ring at once. */
const bytesAtOnce = 4096 * KICK_RECORD_BYTES;
/** More than a ring has: a device that writes on meanwhile is looked at again the next time. */
const mostRounds = 16;
const mostCompletions = mostRounds * 4096;
const receiveQueue = 1;
const high = 2 ** 32;
const mostOneOf = 2 ** 16;
/** Fibonacci hashing: takes turns among kick numbers, so that those of functions which take turns are followed alike. */
const odd = 0x9e37_79b1;

/**
 * Follows commands on their way through a device: kick, last packet, completion. Of many it follows some, so that who looks now and then has little to do: it
 * aims at `most` kicks between two looks, whatever the device does.
 */
export class CommandWays {
  private readonly kickWatch: Watch;
  private readonly completionWatch: Watch;
  private readonly most: number;
  private readonly bytes = new Uint8Array(bytesAtOnce);
  private readonly view = new DataView(this.bytes.buffer);
  private readonly completionBytes = new Uint8Array(mostCompletions * COMPLETION_QUEUE_ENTRY_BYTES);
  private readonly completionView = new DataView(this.completionBytes.buffer);
  private readonly record = new KickRecord();
  /** By queue pair and sequence number, the oldest first. */
  private readonly underWay = new Map<number, CommandWay>();
  private shift = 0;

  /**
   * Takes over both watches; {@link close} closes them.
   * @param most kicks between two looks that are followed, about; beyond, and of those that are never complete, the oldest are given up
   */
  constructor(kicks: Watch, completions: Watch, most = 1024) {
    this.kickWatch = kicks;
    this.completionWatch = completions;
    this.most = most;
  }

  /** Records and completions that came faster than they were taken. */
  get lost(): number {
    return this.kickWatch.lost() + this.completionWatch.lost();
  }

  /** Takes the ways that commands have gone since the last time. */
  take(): TakenWays {
    // Completions first: each kick of theirs is in the other ring by then.
    const endedBytes = this.completionWatch.take(this.completionBytes);
    const { shift } = this;
    const found = {
      kicked: [] as CommandWay[],
      sent: [] as CommandWay[],
      completed: [] as CommandWay[],
      kicks: 0,
    };
    this.takeKicks(found);
    this.takeCompletions(endedBytes, found.completed);
    this.follow(found.kicked.length);
    return { ...found, oneOf: 2 ** shift };
  }

  close(): void {
    this.kickWatch.close();
    this.completionWatch.close();
  }

  private takeCompletions(bytes: number, completed: CommandWay[]): void {
    const { completionView: view, underWay } = this;
    for (let at = 0; at < bytes; at += COMPLETION_QUEUE_ENTRY_BYTES) {
      if (getCompletionQueueEntryWorkQueue(view, at) === receiveQueue) continue;
      const queuePair = getCompletionQueueEntryQueuePairNumber(view, at);
      const key = keyOf(queuePair, getCompletionQueueEntrySequenceNumber(view, at));
      const way = underWay.get(key);
      if (way === undefined) continue;
      const time =
        getCompletionQueueEntryTimestampLow(view, at) + getCompletionQueueEntryTimestampHigh(view, at) * high;
      if (way.kicked > time) continue; // of the command that had the number 2^16 commands before
      way.completed = time;
      completed.push(way);
      if (way.sent !== undefined) underWay.delete(key);
    }
  }

  private takeKicks(found: { kicked: CommandWay[]; sent: CommandWay[]; kicks: number }): void {
    const { view, bytes, record, underWay } = this;
    for (let round = 0; round < mostRounds; round++) {
      const taken = this.kickWatch.take(bytes);
      if (taken === 0) return;
      for (let at = 0; at < taken; at += KICK_RECORD_BYTES) {
        const isFollowed = Math.imul(getKickRecordKickNumber(view, at), odd) >>> (32 - this.shift) === 0;
        if (this.shift > 0 && !isFollowed) {
          found.kicks += Number(getKickRecordType(view, at) === KickRecordType.kicked);
          continue;
        }
        readKickRecord(view, at, record);
        const key = keyOf(record.queuePairNumber, record.sendQueueSequenceNumber);
        if (record.type === KickRecordType.kicked) {
          found.kicks += 1;
          const way = wayOf(record);
          underWay.delete(key); // handed back, and fetched again: the newest way is last
          underWay.set(key, way);
          found.kicked.push(way);
          continue;
        }
        const way = underWay.get(key);
        if (way === undefined) continue;
        way.transmitVirtualLane = record.transmitVirtualLane;
        way.sent = record.end;
        found.sent.push(way);
      }
    }
  }

  /** Follows more or fewer of the commands from now on. */
  private follow(followed: number): void {
    const { most, underWay } = this;
    if (followed > 2 * most && 2 ** this.shift < mostOneOf)
      this.shift += Math.ceil(Math.log2(followed / most));
    else if (followed < most / 4 && this.shift > 0) this.shift -= 1;
    for (const key of underWay.keys()) {
      if (underWay.size <= 2 * most) break;
      underWay.delete(key);
    }
  }
}

const keyOf = (queuePair: number, sequenceNumber: number): number => queuePair * 0x1_0000 + sequenceNumber;

function wayOf(record: KickRecord): CommandWay {
  return {
    underlyingFunction: record.underlyingFunction,
    qualityOfServiceLevel: record.qualityOfServiceLevel,
    queuePairNumber: record.queuePairNumber,
    virtualCollectBuffer: record.virtualCollectBuffer,
    physicalCollectBuffer: record.physicalCollectBuffer,
    firstWrite: record.begin,
    kicked: record.end,
    transmitVirtualLane: undefined,
    sent: undefined,
    completed: undefined,
  };
}
