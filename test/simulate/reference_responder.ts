import { Access, CompletionStatus } from '../../lib/index.ts';
import type { ReferenceMemory } from './reference_memory.ts';
import { code, psnAfter, psnDistance, psnMask, type ReferencePacket } from './reference_packet.ts';

const { success, localLengthError, workRequestFlushedError } = CompletionStatus;
/** AETH syndromes: an ACK without end-to-end credits, an RNR NAK without its timer, and NAKs. */
const [acknowledged, receiverNotReady, sequenceError, invalidRequest, accessError] = [
  0x1f, 0x20, 0x60, 0x61, 0x62,
];
const wordBytes = 8;
const longestMessage = 2 ** 31;

/** A packet that a responder must send, or may send. */
export interface Answer extends Pick<
  ReferencePacket,
  'opcode' | 'psn' | 'syndrome' | 'messageSequenceNumber' | 'original' | 'payload'
> {
  /** The responder may omit it, because a later packet implies it. */
  readonly isOptional: boolean;
}

/** A posted receive work request, with the offset and size of its buffer. */
export interface PostedReceive {
  readonly wrId: number;
  readonly at: number;
  readonly capacity: number;
}

/** A completion of a receive. */
export interface Received {
  readonly wrId: number;
  readonly status: CompletionStatus;
  readonly byteLength?: number;
  readonly immediateData?: number;
}

/** Attributes that connect a responder. */
export interface ResponderAttributes {
  readonly mtu: number;
  readonly accessFlags: number;
  readonly partitionKey: number;
  readonly receivePsn: number;
  readonly minReceiverNotReadyTimer: number;
  readonly maxDestinationReadAtomic: number;
}

/** An executed READ or atomic; for an atomic, with the original value. */
export interface Executed {
  readonly psn: number;
  readonly packet: ReferencePacket;
  readonly original: bigint;
}

/** The message that the responder is receiving. */
export interface Message {
  readonly kind: 'send' | 'write';
  readonly receive?: PostedReceive;
  readonly address: bigint;
  readonly key: number;
  readonly length: number;
  offset: number;
}

/** The responder of a queue pair. */
export interface Responder {
  /** The queue pair is in ERR. */
  readonly isDead: boolean;
  readonly receives: PostedReceive[];
  readonly completions: Received[];
  /** Executed READs and atomics, newest last. */
  readonly executed: Executed[];
  readonly expectedPsn: number;
  /** Executes a packet. @returns the answers */
  take(packet: ReferencePacket): Answer[];
  /** Flushes the posted receives after an error. */
  flush(): void;
}

/**
 * A responder of reliable connection that follows InfiniBand volume 1, 9.7, and shares no code with the device. It returns answers, memory
 * writes and completions for one packet at a time.
 */
export class ReferenceResponder implements Responder {
  isDead = false;
  readonly receives: PostedReceive[] = [];
  readonly completions: Received[] = [];
  readonly executed: Responder['executed'] = [];
  expectedPsn: number;
  messageSequenceNumber = 0;
  message: Message | undefined;
  private readonly attributes: ResponderAttributes;
  private readonly received: ReferenceMemory;
  private readonly memoryOf: MemoryOf;
  private hasRefused = false;

  /** @param received memory of the receive buffers */
  constructor(attributes: ResponderAttributes, received: ReferenceMemory, memoryOf: MemoryOf) {
    this.attributes = attributes;
    this.expectedPsn = attributes.receivePsn;
    this.received = received;
    this.memoryOf = memoryOf;
  }

  take(packet: ReferencePacket): Answer[] {
    if (this.isDead || !isMember(this.attributes, packet)) return [];
    const ahead = psnDistance(this.expectedPsn, packet.psn);
    if (ahead < 0) return this.repeat(packet);
    if (ahead > 0) return this.hasRefused ? [] : this.refuse(sequenceError);
    if (!this.isValid(packet)) return this.fail(invalidRequest);
    return this.execute(packet);
  }

  flush(): void {
    if (this.message?.receive !== undefined) this.complete(this.message.receive, workRequestFlushedError);
    for (const receive of this.receives.splice(0)) this.complete(receive, workRequestFlushedError);
    this.message = undefined;
  }

  private isValid(packet: ReferencePacket): boolean {
    const { opcode, length, address } = packet;
    const { accessFlags } = this.attributes;
    const kind = kindOf(opcode);
    if (kind === 'read') {
      return (
        this.message === undefined && (accessFlags & Access.remoteRead) !== 0 && length <= longestMessage
      );
    }
    if (kind === 'atomic') {
      const isAligned = address % BigInt(wordBytes) === 0n;
      return this.message === undefined && (accessFlags & Access.remoteAtomic) !== 0 && isAligned;
    }
    if (kind === 'other') return false;
    const { begins } = positionOf(opcode);
    if (begins ? this.message !== undefined : this.message?.kind !== kind) return false;
    return isProper(this.attributes, packet, this.message);
  }

  private execute(packet: ReferencePacket): Answer[] {
    const kind = kindOf(packet.opcode);
    if (kind === 'read') return this.read(packet);
    if (kind === 'atomic') return this.changeAtomically(packet);
    const { begins, ends } = positionOf(packet.opcode);
    const needsReceive = kind === 'send' ? begins : hasImmediate(packet.opcode);
    const receive = needsReceive ? this.receives.shift() : this.message?.receive;
    if (needsReceive && receive === undefined) {
      this.hasRefused = true;
      return [this.answer(this.expectedPsn, receiverNotReady | this.attributes.minReceiverNotReadyTimer)];
    }
    if (begins) {
      const { address, key, length } = packet;
      this.message = {
        kind: kind as 'send' | 'write',
        address,
        key,
        length,
        offset: 0,
        ...(receive && { receive }),
      };
    } else if (needsReceive) this.message = { ...this.message!, receive: receive! };
    const refused = kind === 'send' ? this.placeSend(packet) : this.placeWrite(packet, begins);
    if (refused !== undefined) return this.fail(refused);
    this.accept(1);
    if (ends) {
      this.messageSequenceNumber = psnAfter(this.messageSequenceNumber, 1);
      this.endMessage(packet);
    }
    const isAsked = ends || packet.acknowledgeRequest;
    return [{ ...this.answer(packet.psn, acknowledged), isOptional: !isAsked }];
  }

  private placeSend({ payload }: ReferencePacket): number | undefined {
    const message = this.message!;
    const { at, capacity } = message.receive!;
    if (message.offset + payload.length > capacity) {
      this.complete(message.receive!, localLengthError);
      this.message = undefined;
      // The packets before the first one that does not fit have been written.
      this.received.allow(at, capacity);
      return invalidRequest;
    }
    this.received.expected.set(payload, at + message.offset);
    message.offset += payload.length;
    return undefined;
  }

  private placeWrite({ payload }: ReferencePacket, begins: boolean): number | undefined {
    const message = this.message!;
    const whole = begins ? message.length : payload.length;
    const place = reach(
      this.memoryOf,
      message.key,
      message.address + BigInt(message.offset),
      whole,
      Access.remoteWrite,
    );
    if (place === undefined) return accessError;
    place.memory?.expected.set(payload, place.at);
    message.offset += payload.length;
    return undefined;
  }

  private endMessage({ opcode, immediate }: ReferencePacket): void {
    const { receive, offset } = this.message!;
    this.message = undefined;
    if (receive !== undefined)
      this.completions.push({
        wrId: receive.wrId,
        status: success,
        byteLength: offset,
        ...(hasImmediate(opcode) && { immediateData: immediate }),
      });
  }

  private read(packet: ReferencePacket): Answer[] {
    if (reach(this.memoryOf, packet.key, packet.address, packet.length, Access.remoteRead) === undefined)
      return this.fail(accessError);
    const { psn } = packet;
    this.messageSequenceNumber = psnAfter(this.messageSequenceNumber, 1);
    this.executed.push({ psn, packet, original: 0n });
    const answers = this.readOf(packet);
    this.accept(answers.length);
    return answers;
  }

  private readOf({ psn, key, address, length }: ReferencePacket): Answer[] {
    const { memory, at } = reach(this.memoryOf, key, address, length, Access.remoteRead)!;
    const { mtu } = this.attributes;
    const count = Math.max(1, Math.ceil(length / mtu));
    return Array.from({ length: count }, (_, index) => ({
      ...this.answer(psnAfter(psn, index), acknowledged),
      opcode: readOpcode(index, count),
      payload: memory?.expected.slice(at + index * mtu, at + Math.min(length, (index + 1) * mtu)) ?? nothing,
    }));
  }

  private changeAtomically(packet: ReferencePacket): Answer[] {
    const { psn, key, address, opcode, swapAdd, compare } = packet;
    const place = reach(this.memoryOf, key, address, wordBytes, Access.remoteAtomic);
    if (place === undefined) return this.fail(accessError);
    const { buffer, byteOffset } = place.memory!.expected;
    const view = new DataView(buffer, byteOffset + place.at);
    const original = view.getBigUint64(0, true);
    if (opcode === code.fetchAndAdd) view.setBigUint64(0, original + swapAdd, true);
    else if (original === compare) view.setBigUint64(0, swapAdd, true);
    this.messageSequenceNumber = psnAfter(this.messageSequenceNumber, 1);
    this.executed.push({ psn, packet, original });
    this.accept(1);
    return [this.atomicAnswer(psn, original)];
  }

  /** Answers a duplicate: acknowledges again, reads again, or repeats the original value of an atomic (9.7.5.1). */
  private repeat(packet: ReferencePacket): Answer[] {
    const kind = kindOf(packet.opcode);
    if (kind === 'send' || kind === 'write')
      return [this.answer(psnAfter(this.expectedPsn, psnMask), acknowledged)];
    // The responder remembers as many READs and atomics as the requester may have outstanding.
    const former = this.executed
      .toReversed()
      .slice(0, this.attributes.maxDestinationReadAtomic)
      .find(({ psn, packet: earlier }) => {
        const behind = psnDistance(psn, packet.psn);
        return behind >= 0 && behind < this.packetsOf(earlier);
      });
    if (former === undefined || kindOf(former.packet.opcode) !== kind) return [];
    if (kind === 'atomic') return [this.atomicAnswer(packet.psn, former.original)];
    return this.isPartOf(former, packet) ? this.readOf(packet) : [];
  }

  /** The response packets of a READ or atomic. */
  private packetsOf({ opcode, length }: ReferencePacket): number {
    return kindOf(opcode) === 'atomic' ? 1 : Math.max(1, Math.ceil(length / this.attributes.mtu));
  }

  /** Whether a duplicate READ requests part of an earlier one (9.7.5.1). */
  private isPartOf({ psn, packet: earlier }: Executed, packet: ReferencePacket): boolean {
    const offset = packet.address - earlier.address;
    return (
      packet.key === earlier.key &&
      offset >= 0n &&
      offset + BigInt(packet.length) <= BigInt(earlier.length) &&
      psnDistance(psn, packet.psn) + this.packetsOf(packet) <= this.packetsOf(earlier)
    );
  }

  private accept(psns: number): void {
    this.expectedPsn = psnAfter(this.expectedPsn, psns);
    this.hasRefused = false;
  }

  private refuse(syndrome: number): Answer[] {
    this.hasRefused = true;
    return [this.answer(this.expectedPsn, syndrome)];
  }

  private fail(syndrome: number): Answer[] {
    this.isDead = true;
    return [this.answer(this.expectedPsn, syndrome)];
  }

  private answer(psn: number, syndrome: number): Answer {
    const { messageSequenceNumber } = this;
    return {
      opcode: code.acknowledge,
      psn,
      syndrome,
      messageSequenceNumber,
      original: 0n,
      payload: nothing,
      isOptional: false,
    };
  }

  private atomicAnswer(psn: number, original: bigint): Answer {
    return { ...this.answer(psn, acknowledged), opcode: code.atomicAcknowledge, original };
  }

  private complete({ wrId }: PostedReceive, status: CompletionStatus): void {
    this.completions.push({ wrId, status });
  }
}

const nothing = new Uint8Array();

/** Finds registered memory by its key. */
export type MemoryOf = (key: number) => ReferenceMemory | undefined;

/** Whether both are in the same partition and at least one is a full member (10.9.3). */
export function isMember(own: ResponderAttributes, { partitionKey }: ReferencePacket): boolean {
  return (
    ((own.partitionKey ^ partitionKey) & 0x7fff) === 0 && ((own.partitionKey | partitionKey) & 0x8000) !== 0
  );
}

/** Whether a packet of a SEND or RDMA WRITE has a valid length (9.7.4.1.4 to 9.7.4.1.6). */
export function isProper(
  { accessFlags, mtu }: ResponderAttributes,
  { opcode, payload, length }: ReferencePacket,
  message: Message | undefined,
): boolean {
  const { begins, ends } = positionOf(opcode);
  if (!ends ? payload.length !== mtu : payload.length > mtu || (!begins && payload.length === 0))
    return false;
  if (kindOf(opcode) === 'send') return true;
  const arrived = (begins ? 0 : message!.offset) + payload.length;
  const whole = begins ? length : message!.length;
  return (accessFlags & Access.remoteWrite) !== 0 && (ends ? arrived === whole : arrived < whole);
}

/** The memory and offset that a key and address select; undefined: no access. Zero bytes are accessible with any key. */
export function reach(
  memoryOf: MemoryOf,
  key: number,
  address: bigint,
  length: number,
  right: number,
): { memory: ReferenceMemory | undefined; at: number } | undefined {
  if (length === 0) return { memory: undefined, at: 0 };
  const memory = memoryOf(key);
  if (memory === undefined || (memory.access & right) === 0) return undefined;
  const at = Number(address - memory.region.address);
  return at >= 0 && at + length <= memory.expected.length ? { memory, at } : undefined;
}

export function kindOf(opcode: number): 'send' | 'write' | 'read' | 'atomic' | 'other' {
  if (opcode <= code.sendOnlyImmediate) return 'send';
  if (opcode <= code.writeOnlyImmediate) return 'write';
  if (opcode === code.readRequest) return 'read';
  return opcode === code.compareAndSwap || opcode === code.fetchAndAdd ? 'atomic' : 'other';
}

/** The position of a SEND or RDMA WRITE packet in its message. */
export function positionOf(opcode: number): { begins: boolean; ends: boolean } {
  const place = opcode % code.writeFirst;
  return { begins: place === 0 || place >= code.sendOnly, ends: place >= code.sendLast };
}

export function hasImmediate(opcode: number): boolean {
  const place = opcode % code.writeFirst;
  return place === code.sendLastImmediate || place === code.sendOnlyImmediate;
}

function readOpcode(index: number, count: number): number {
  if (count === 1) return code.readOnly;
  if (index === 0) return code.readFirst;
  return index === count - 1 ? code.readLast : code.readMiddle;
}
