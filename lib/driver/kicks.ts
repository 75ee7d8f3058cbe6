import {
  KickRecordType,
  type CompletionStatus,
  type KickOrigin,
  type Opcode,
  type QualityOfServiceLevel,
} from '../spec/index.ts';
import type { KickRecord } from './kick_records.ts';

/** An observed command: its kick, and its way out where it had one. Times are device clock ticks. */
export interface Kick {
  /** Counts kicks; joins the two records of one. */
  readonly kickNumber: number;
  /** Of the command. */
  readonly underlyingFunction: number;
  /** Of the queue pair. */
  readonly qualityOfServiceLevel: QualityOfServiceLevel;
  /** Whether the host wrote the command, or the scheduler fetched it. */
  readonly origin: KickOrigin;
  /** 0xffff: none. */
  readonly virtualCollectBuffer: number;
  /** 0xffff: it found none. */
  readonly physicalCollectBuffer: number;
  /** Of the command. */
  readonly opcode: Opcode;
  /** 24 bits. */
  readonly queuePairNumber: number;
  /** 16 bits, free-running. */
  readonly sendQueueSequenceNumber: number;
  /** Bytes of payload. */
  readonly length: number;
  /** When the first write of the command came. */
  readonly firstWrite: number;
  /** When it was kicked. */
  readonly kicked: number;
  /** undefined: it was not sent by this kick, but handed back to the send queue. */
  readonly sent:
    | {
        readonly transmitVirtualLane: number;
        readonly status: CompletionStatus;
        readonly begin: number;
        readonly end: number;
      }
    | undefined;
}

/** Joins the two records of each kick. */
export class KickJoiner {
  private readonly waiting = new Map<number, Kick>();
  private readonly most: number;

  /** @param most kicks that wait for their second record; beyond, the oldest is given out without it */
  constructor(most = 4096) {
    this.most = most;
  }

  /**
   * Takes a record; gives the kicks that are complete with it, in the order in which they were kicked. A command that is kicked
   * again, by the scheduler, was handed back the first time. A record whose first one was dropped gives none.
   */
  take(record: KickRecord): Kick[] {
    const key = record.queuePairNumber * 0x1_0000 + record.sendQueueSequenceNumber;
    const before = this.waiting.get(key);
    this.waiting.delete(key);
    if (record.type !== KickRecordType.kicked) {
      if (before === undefined) return [];
      if (before.kickNumber !== record.kickNumber) return [before];
      const { transmitVirtualLane, status, begin, end } = record;
      return [{ ...before, sent: { transmitVirtualLane, status, begin, end } }];
    }
    this.waiting.set(key, kickOf(record));
    const given = before === undefined ? [] : [before];
    if (this.waiting.size <= this.most) return given;
    const [oldest, kick] = this.waiting.entries().next().value!;
    this.waiting.delete(oldest);
    return [...given, kick];
  }
}

function kickOf(record: KickRecord): Kick {
  return {
    kickNumber: record.kickNumber,
    underlyingFunction: record.underlyingFunction,
    qualityOfServiceLevel: record.qualityOfServiceLevel,
    origin: record.origin,
    virtualCollectBuffer: record.virtualCollectBuffer,
    physicalCollectBuffer: record.physicalCollectBuffer,
    opcode: record.opcode,
    queuePairNumber: record.queuePairNumber,
    sendQueueSequenceNumber: record.sendQueueSequenceNumber,
    length: record.length,
    firstWrite: record.begin,
    kicked: record.end,
    sent: undefined,
  };
}
