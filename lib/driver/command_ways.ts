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

/** The path of a command through the device. Times are device clock ticks; undefined: not reached yet. */
export interface CommandWay {
  readonly underlyingFunction: number;
  readonly qualityOfServiceLevel: number;
  readonly queuePairNumber: number;
  /** VCB; 0xffff: none. */
  readonly virtualCollectBuffer: number;
  /** PCB; 0xffff: no PCB was free. */
  readonly physicalCollectBuffer: number;
  /** Time of its first write, or of the scheduler's fetch. */
  readonly firstWrite: number;
  readonly kicked: number;
  transmitVirtualLane: number | undefined;
  /** Time at which its last packet left. */
  sent: number | undefined;
  /** Time at which its completion was written; undefined if the command requests none. */
  completed: number | undefined;
}

/** Paths since the last call. */
export interface TakenWays {
  /** Followed commands that were kicked, have left, are complete. A path can be in all three. */
  readonly kicked: readonly CommandWay[];
  readonly sent: readonly CommandWay[];
  readonly completed: readonly CommandWay[];
  /** Number of kicked commands, including those that are not followed. */
  readonly kicks: number;
  /** One of this many commands is followed: a power of two. */
  readonly oneOf: number;
}

/** Bytes read from a ring at once. */
const bytesAtOnce = 4096 * KICK_RECORD_BYTES;
/** More than the size of a ring; the rest is read in the next call, if the device keeps writing. */
const mostRounds = 16;
const mostCompletions = mostRounds * 4096;
const receiveQueue = 1;
const high = 2 ** 32;
const mostOneOf = 2 ** 16;
/** Fibonacci hashing: spreads kick numbers, so that interleaved functions are followed equally. */
const odd = 0x9e37_79b1;

/**
 * Follows commands through a device: kick, last packet, completion. It samples commands to limit the work of an infrequent reader, with a
 * target of `most` kicks between two calls at any rate of the device.
 */
export class CommandWays {
  private readonly kickWatch: Watch;
  private readonly completionWatch: Watch | undefined;
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
   * Takes ownership of both watches; {@link close} closes them.
   * @param completions undefined: completions are not to be had, and no way gets one
   * @param most approximate number of kicks to follow between two calls; further ones, and the oldest that never complete, are dropped
   */
  constructor(kicks: Watch, completions: Watch | undefined, most = 1024) {
    this.kickWatch = kicks;
    this.completionWatch = completions;
    this.most = most;
  }

  /** Number of records and completions lost because they arrived faster than they were read. */
  get lost(): number {
    return this.kickWatch.lost() + (this.completionWatch?.lost() ?? 0);
  }

  /** Returns the paths of commands since the last call. */
  take(): TakenWays {
    // Completions first: their kicks are then already in the other ring.
    const endedBytes = this.completionWatch?.take(this.completionBytes) ?? 0;
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
    this.completionWatch?.close();
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

  /** Changes the number of commands to follow. */
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
