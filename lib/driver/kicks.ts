import {
  KickRecordType,
  type CompletionStatus,
  type KickOrigin,
  type Opcode,
  type QualityOfServiceLevel,
} from '../spec/index.ts';
import type { KickRecord } from './kick_records.ts';

/** An observed command: its kick, and its transmission if it was sent. Times are device clock ticks. */
export interface Kick {
  /** Number of the kick, equal in its two records. */
  readonly kickNumber: number;
  /** Underlying function of the command. */
  readonly underlyingFunction: number;
  /** QoS level of the queue pair. */
  readonly qualityOfServiceLevel: QualityOfServiceLevel;
  /** Origin: the host wrote the command, or the scheduler fetched it. */
  readonly origin: KickOrigin;
  /** VCB; 0xffff: none. */
  readonly virtualCollectBuffer: number;
  /** PCB; 0xffff: no PCB was free. */
  readonly physicalCollectBuffer: number;
  /** Opcode of the command. */
  readonly opcode: Opcode;
  /** 24 bits. */
  readonly queuePairNumber: number;
  /** 16 bits, free-running. */
  readonly sendQueueSequenceNumber: number;
  /** Bytes of payload. */
  readonly length: number;
  /** Time at which the first write of the command arrived. */
  readonly firstWrite: number;
  /** Time of the kick. */
  readonly kicked: number;
  /** Time at which it was sent. undefined: this kick did not send it, the device handed it back to the send queue. */
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

  /** @param most maximum number of kicks that wait for their second record; beyond it, the oldest is returned without that record */
  constructor(most = 4096) {
    this.most = most;
  }

  /**
   * Adds a record; returns the kicks that it completes, in the order of their kicks. A command that the scheduler kicks again was handed
   * back the first time. A record whose first one was dropped completes no kick.
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
