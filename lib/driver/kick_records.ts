import type { DmaMemory } from '../board/addon.ts';
import {
  KICK_RECORD_BYTES,
  KICK_RECORD_PHASE_BYTE,
  KICK_RECORD_PHASE_SHIFT,
  RING_HEAD_BYTES,
  UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_ALL_FUNCTIONS_SHIFT,
  UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_ENABLE_MASK,
  UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_ENABLE_SHIFT,
  UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_ENTRIES_LOG2_SHIFT,
  UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET,
  UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET,
  getKickRecordBeginHigh,
  getKickRecordBeginLow,
  getKickRecordDropped,
  getKickRecordEndHigh,
  getKickRecordEndLow,
  getKickRecordKickNumber,
  getKickRecordLength,
  getKickRecordOpcode,
  getKickRecordOrigin,
  getKickRecordPhysicalCollectBuffer,
  getKickRecordQualityOfServiceLevel,
  getKickRecordQueuePairNumber,
  getKickRecordSendQueueSequenceNumber,
  getKickRecordStatus,
  getKickRecordTransmitVirtualLane,
  getKickRecordType,
  getKickRecordUnderlyingFunction,
  getKickRecordVirtualCollectBuffer,
  getKickRecordWrittenHigh,
  getKickRecordWrittenLow,
  type CompletionStatus,
  type KickOrigin,
  type KickRecordType,
  type Opcode,
  type QualityOfServiceLevel,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { DeviceRing, type RingEntry } from './device_ring.ts';
import { VerbsError } from './errors.ts';

/** A kick record, filled in by {@link KickRecordRing.poll}. Times are device clock ticks. */
export class KickRecord {
  /** Type of the record: kicked or sent. */
  type = 0 as KickRecordType;
  /** Underlying function of the command. */
  underlyingFunction = 0;
  /** QoS level of the queue pair. */
  qualityOfServiceLevel = 0 as QualityOfServiceLevel;
  /** Origin: the host wrote the command, or the scheduler fetched it. */
  origin = 0 as KickOrigin;
  /** Sent: the outcome. */
  status = 0 as CompletionStatus;
  /** Number of the kick, equal in its two records. */
  kickNumber = 0;
  /** VCB; 0xffff: none. */
  virtualCollectBuffer = 0;
  /** PCB; 0xffff: send queue mode. */
  physicalCollectBuffer = 0;
  /** TVL; 0xff: none chosen yet. */
  transmitVirtualLane = 0;
  /** Opcode of the command. */
  opcode = 0 as Opcode;
  /** 16 bits, free-running. */
  sendQueueSequenceNumber = 0;
  /** 24 bits. */
  queuePairNumber = 0;
  /** Bytes of payload of the command. */
  length = 0;
  /** Kicked: time of the first write. Sent: start of the execution. Exact up to 2^53. */
  begin = 0;
  /** Kicked: time of the kick. Sent: time at which the last packet left. */
  end = 0;
  /** Time at which the device passed the record to the DMA. */
  written = 0;
  /** Records dropped before this one since the ring started, modulo 2^32. */
  dropped = 0;
}

const high = 2 ** 32;

const recordEntry: RingEntry = {
  bytes: KICK_RECORD_BYTES,
  phaseByte: KICK_RECORD_PHASE_BYTE,
  phaseShift: KICK_RECORD_PHASE_SHIFT,
};

/** A ring in host memory in which the device records for each command when it was kicked and when it was sent. */
export class KickRecordRing {
  readonly entriesLog2: number;
  /** The ring, and the host's head. */
  readonly ring: DmaMemory;
  readonly head: DmaMemory;
  private readonly device: DeviceFunction;
  private readonly view: DataView;
  private readonly entries: DeviceRing;
  private readonly allFunctions: boolean;

  /**
   * Gives the ring to the device, which writes records from now on.
   * @param entriesLog2 up to 16
   * @param allFunctions records of all functions, not only of this one
   * @throws VerbsError EPERM: all functions, and this is not the control function; EBUSY: other processes observe the function through its
   * kick records
   */
  constructor(device: DeviceFunction, entriesLog2: number, allFunctions = false) {
    if (allFunctions && device.controlPage === undefined) throw notOfAll(device.underlyingFunction);
    if (device.kickRecordsOf === 'observers') throw ofObservers();
    device.kickRecordsOf = 'reader';
    this.allFunctions = allFunctions;
    this.device = device;
    this.entriesLog2 = entriesLog2;
    this.ring = device.allocate(KICK_RECORD_BYTES << entriesLog2);
    this.head = device.allocate(RING_HEAD_BYTES);
    this.view = new DataView(this.ring.buffer);
    this.entries = new DeviceRing(this.ring, this.head, 1 << entriesLog2, recordEntry);
    const { page } = device;
    page.write64(UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET, this.ring.address);
    page.write64(UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET, this.head.address);
    this.writeControl(1);
  }

  /**
   * Copies records into the caller's objects, oldest first. Never waits; makes a native call only if there is no record.
   * @returns the number of objects filled in
   */
  poll(records: readonly KickRecord[]): number {
    let count = 0;
    while (count < records.length && this.next(records[count]!)) count++;
    if (count === 0) this.device.board.advance();
    else this.entries.tellRead();
    return count;
  }

  /** Stops the records; the device no longer accesses the ring. */
  close(): void {
    this.writeControl(0);
    this.device.page.read32(UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET);
    this.device.free(this.ring);
    this.device.free(this.head);
    this.device.kickRecordsOf = undefined;
  }

  private writeControl(enable: number): void {
    this.device.page.write32(
      UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET,
      ((enable & UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_ENABLE_MASK) <<
        UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_ENABLE_SHIFT) |
        (Number(this.allFunctions) << UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_ALL_FUNCTIONS_SHIFT) |
        (this.entriesLog2 << UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_ENTRIES_LOG2_SHIFT),
    );
  }

  private next(record: KickRecord): boolean {
    const { entries } = this;
    if (!entries.isWritten) return false;
    readKickRecord(this.view, entries.place * 4, record);
    entries.next();
    return true;
  }
}

function ofObservers(): VerbsError {
  return new VerbsError('the kick records of this function are those of its observers', {
    code: 'EBUSY',
    verb: 'observeKicks',
    expected: 'an observer, such as hca kicks --device serve:NAME; or the sharing closed',
  });
}

function notOfAll(underlyingFunction: number): VerbsError {
  return new VerbsError(`underlying function ${underlyingFunction} cannot observe the kicks of the others`, {
    code: 'EPERM',
    verb: 'observeKicks',
    attribute: 'allFunctions',
    expected: 'the control function: a device string of function 0, such as emu:0',
  });
}

/** Decodes the record at a place of the ring. */
export function readKickRecord(view: DataView, at: number, record: KickRecord): void {
  record.type = getKickRecordType(view, at) as KickRecordType;
  record.underlyingFunction = getKickRecordUnderlyingFunction(view, at);
  record.qualityOfServiceLevel = getKickRecordQualityOfServiceLevel(view, at) as QualityOfServiceLevel;
  record.origin = getKickRecordOrigin(view, at) as KickOrigin;
  record.status = getKickRecordStatus(view, at) as CompletionStatus;
  record.kickNumber = getKickRecordKickNumber(view, at);
  record.virtualCollectBuffer = getKickRecordVirtualCollectBuffer(view, at);
  record.physicalCollectBuffer = getKickRecordPhysicalCollectBuffer(view, at);
  record.transmitVirtualLane = getKickRecordTransmitVirtualLane(view, at);
  record.opcode = getKickRecordOpcode(view, at) as Opcode;
  record.sendQueueSequenceNumber = getKickRecordSendQueueSequenceNumber(view, at);
  record.queuePairNumber = getKickRecordQueuePairNumber(view, at);
  record.length = getKickRecordLength(view, at);
  record.begin = getKickRecordBeginLow(view, at) + getKickRecordBeginHigh(view, at) * high;
  record.end = getKickRecordEndLow(view, at) + getKickRecordEndHigh(view, at) * high;
  record.written = getKickRecordWrittenLow(view, at) + getKickRecordWrittenHigh(view, at) * high;
  record.dropped = getKickRecordDropped(view, at);
}
