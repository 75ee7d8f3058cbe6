import { isRequest, nameOf, noPacket, opcodeOf, type Packet, type Service } from './wire.ts';

/** NAK codes of an AETH (InfiniBand volume 1, 9.7.5.2.8). */
const nakCodes = ['sequence', 'invalid', 'access', 'operational', 'datagram'];

/** Words that follow the name of a packet or work request: `@PSN`, `key=value`, or a single word. */
export class Words {
  readonly name: string;
  private readonly words: Map<string, string>;
  private readonly text: string;

  constructor(text: string) {
    const [name, ...words] = text.split(' ');
    this.text = text;
    this.name = name!;
    this.words = new Map(
      words.map((word) => {
        if (word.startsWith('@')) return ['@', word.slice(1)];
        const [key, value] = word.split('=');
        return [key!, value ?? ''];
      }),
    );
  }

  has(key: string): boolean {
    return this.take(key) !== undefined;
  }

  take(key: string): string | undefined {
    const value = this.words.get(key);
    this.words.delete(key);
    return value;
  }

  number(key: string, otherwise?: number): number {
    const value = Number(this.take(key) ?? otherwise);
    if (!Number.isSafeInteger(value)) throw new Error(`"${this.text}" needs ${key}`);
    return value;
  }

  big(key: string): bigint {
    return BigInt(this.take(key) ?? 0);
  }

  /** @throws Error a word was not understood */
  end(): void {
    if (this.words.size !== 0) throw new Error(`"${this.text}": ${[...this.words.keys()].join(', ')}?`);
  }
}

/** Keys, addresses and PSNs of a stage that a notation refers to. */
export interface Meaning {
  readonly service: Service;
  /** PSN of @0. */
  readonly start: number;
  keyOf(name: string): number;
  addressOf(name: string, offset: number): bigint;
  nameOfKey(key: number): string;
  offsetOf(key: number, address: bigint): number;
  /** The location `target+0`. */
  placeOf(payload: Uint8Array): string;
}

/** The payload of a packet of the peer; its bytes follow from PSN, seed and offset. */
export function payloadOf(psn: number, seed: number, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, at) => {
    const mixed = Math.imul(at + 1 + (psn + 64) * 4099 + seed * 65_537, 0x9e37_79b1);
    return (mixed >>> 24) ^ (mixed >>> 13);
  });
}

/**
 * A packet of the peer: `bytes` of payload, computed from its PSN and `data` (default 0); `to`=KEY
 * `at`=OFFSET of memory, `length`; `ack`, `rnr`=CODE, `nak`=CODE or `syndrome`; `msn`; and fields by their
 * names.
 */
export function parsePacket(text: string, meaning: Meaning): Packet {
  const words = new Words(text);
  const psn = words.number('@');
  const bytes = words.number('bytes', 0);
  const to = words.take('to') ?? 'target';
  const packet: Packet = {
    ...noPacket,
    opcode: opcodeOf(words.name, meaning.service),
    solicited: words.has('solicited'),
    acknowledgeRequest: words.has('ack-request'),
    partitionKey: words.number('pkey', 0xffff),
    psn: (meaning.start + psn) & 0xff_ffff,
    queueKey: words.number('qkey', 0x1111_1111),
    sourceQueuePair: words.number('source', 0x4711),
    address: meaning.addressOf(to, words.number('at', 0)),
    key: meaning.keyOf(to),
    length: words.number('length', bytes),
    swapAdd: words.big('swap') || words.big('add'),
    compare: words.big('compare'),
    syndrome: parseSyndrome(words),
    messageSequenceNumber: words.number('msn', 0),
    original: words.big('original'),
    immediate: words.number('immediate', 0),
    payload: payloadOf(psn, words.number('data', 0), bytes),
  };
  words.end();
  return packet;
}

function parseSyndrome(words: Words): number {
  const nak = words.take('nak');
  if (nak !== undefined) return 0x60 | (nakCodes.includes(nak) ? nakCodes.indexOf(nak) : Number(nak));
  if (words.has('ack')) return 0x1f;
  const timer = words.number('rnr', -1);
  return timer >= 0 ? 0x20 | timer : words.number('syndrome', 0);
}

function syndromeText(syndrome: number): string {
  if (syndrome === 0x1f) return 'ack';
  if (syndrome >> 5 === 1) return `rnr=${syndrome & 0x1f}`;
  const code = syndrome >> 5 === 3 ? nakCodes[syndrome & 0x1f] : undefined;
  return code === undefined ? `syndrome=${syndrome}` : `nak=${code}`;
}

/** A packet to the peer in the same words, with all fields of its headers. */
export function packetText(packet: Packet, meaning: Meaning): string {
  const name = nameOf(packet.opcode);
  const distance = ((packet.psn - meaning.start) << 8) >> 8;
  const words = [name, `@${distance}`];
  const say = (of: RegExp, ...said: string[]): void => void (of.test(name) && words.push(...said));
  const place = (): string[] => [
    `to=${meaning.nameOfKey(packet.key)}`,
    `at=${meaning.offsetOf(packet.key, packet.address)}`,
  ];
  say(/acknowledge|rdma_read_response_(first|last|only)/, syndromeText(packet.syndrome));
  say(/acknowledge|rdma_read_response_(first|last|only)/, `msn=${packet.messageSequenceNumber}`);
  say(/atomic_acknowledge/, `original=${packet.original}`);
  say(/rdma_write_(first|only)|rdma_read_request|compare_and_swap|fetch_and_add/, ...place());
  say(/rdma_write_(first|only)|rdma_read_request/, `length=${packet.length}`);
  say(/compare_and_swap/, `compare=${packet.compare}`, `swap=${packet.swapAdd}`);
  say(/fetch_and_add/, `add=${packet.swapAdd}`);
  say(/with_immediate/, `immediate=${packet.immediate}`);
  say(/with_invalidate/, `to=${meaning.nameOfKey(packet.key)}`);
  if (packet.payload.length > 0)
    words.push(`bytes=${packet.payload.length}`, `from=${meaning.placeOf(packet.payload)}`);
  if (packet.solicited) words.push('solicited');
  if (isRequest(name) && packet.acknowledgeRequest) words.push('ack-request');
  return words.join(' ');
}
