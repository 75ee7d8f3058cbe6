import { Access, CompletionStatus } from '../../lib/index.ts';
import type { ReferenceMemory } from './reference_memory.ts';
import { psnAfter, type ReferencePacket } from './reference_packet.ts';
import {
  hasImmediate,
  isMember,
  isProper,
  kindOf,
  positionOf,
  reach,
  type Answer,
  type MemoryOf,
  type Message,
  type PostedReceive,
  type Received,
  type Responder,
  type ResponderAttributes,
} from './reference_responder.ts';

const { success, localLengthError, remoteAccessError } = CompletionStatus;

/**
 * A responder of unreliable connection (InfiniBand volume 1, 9.8.2 and 9.9.3): it sends no answers, and no peer can put it in ERR. It drops
 * a message with a lost packet and uses the receive of a dropped SEND for the next message.
 */
export class ReferenceUnreliable implements Responder {
  readonly isDead = false;
  readonly receives: PostedReceive[] = [];
  readonly completions: Received[] = [];
  readonly executed: Responder['executed'] = [];
  expectedPsn: number;
  private readonly attributes: ResponderAttributes;
  private readonly received: ReferenceMemory;
  private readonly memoryOf: MemoryOf;
  private message: Message | undefined;
  /** The status of the receive of a message whose rest is dropped. */
  private refusal: CompletionStatus | undefined;
  private kept: PostedReceive | undefined;

  constructor(attributes: ResponderAttributes, received: ReferenceMemory, memoryOf: MemoryOf) {
    this.attributes = attributes;
    this.expectedPsn = attributes.receivePsn;
    this.received = received;
    this.memoryOf = memoryOf;
  }

  take(packet: ReferencePacket): Answer[] {
    const kind = kindOf(packet.opcode);
    // The board drops operations that the service lacks before the transport checks (9.6.1.1).
    if (!isMember(this.attributes, packet) || (kind !== 'send' && kind !== 'write')) return [];
    const { begins } = positionOf(packet.opcode);
    const isInTurn = begins || (packet.psn === this.expectedPsn && this.message?.kind === kind);
    if (!isInTurn || !isProper(this.attributes, packet, this.message)) this.lose();
    else this.execute(packet, kind);
    return [];
  }

  flush(): void {
    throw new Error('no peer can fail a queue pair of unreliable connection');
  }

  private execute(packet: ReferencePacket, kind: 'send' | 'write'): void {
    const { opcode, psn, address, key, length } = packet;
    const { begins, ends } = positionOf(opcode);
    if (begins) this.lose();
    const needsReceive = kind === 'send' ? begins : hasImmediate(opcode);
    const receive = needsReceive ? (this.kept ?? this.receives.shift()) : this.message?.receive;
    if (needsReceive && receive === undefined) {
      this.lose();
      return;
    }
    if (needsReceive) this.kept = undefined;
    if (begins) {
      this.message = { kind, address, key, length, offset: 0 };
      this.refusal = undefined;
    }
    this.message = { ...this.message!, ...(receive && { receive }) };
    this.expectedPsn = psnAfter(psn, 1);
    if (kind === 'send') this.placeSend(packet);
    else this.placeWrite(packet, begins);
    this.message.offset += packet.payload.length;
    if (ends) this.end(packet);
  }

  private placeSend({ payload }: ReferencePacket): void {
    const { receive, offset } = this.message!;
    const { at, capacity } = receive!;
    if (offset + payload.length > capacity) this.refusal ??= localLengthError;
    if (this.refusal === undefined) this.received.expected.set(payload, at + offset);
  }

  private placeWrite({ payload }: ReferencePacket, begins: boolean): void {
    const { key, address, offset, length } = this.message!;
    const bytes = begins ? length : payload.length;
    const place = reach(this.memoryOf, key, address + BigInt(offset), bytes, Access.remoteWrite);
    if (place === undefined) this.refusal ??= remoteAccessError;
    if (this.refusal === undefined) place?.memory?.expected.set(payload, place.at);
  }

  private end({ opcode, immediate }: ReferencePacket): void {
    const { receive, offset } = this.message!;
    this.message = undefined;
    if (receive === undefined) return;
    this.completions.push({
      wrId: receive.wrId,
      status: this.refusal ?? success,
      byteLength: offset,
      ...(hasImmediate(opcode) && { immediateData: immediate }),
    });
  }

  /** Drops the current message; the next SEND uses its receive. */
  private lose(): void {
    if (this.message?.kind === 'send') this.kept = this.message.receive;
    this.message = undefined;
  }
}
