import { CompletionStatus, PathMtu, QueuePairState, completionStatusNames } from '../../lib/index.ts';
import type { Random } from '../helpers/random.mjs';
import { require } from './party.ts';
import { Line, type LineAttributes, type Wire } from './reference_line.ts';
import { ReferenceMemory, accesses, everyAccess, targetBytes } from './reference_memory.ts';
import { blank, code, psnAfter, psnDistance, unreliable, type ReferencePacket } from './reference_packet.ts';
import { ReferenceResponder, kindOf, type Answer, type Responder } from './reference_responder.ts';
import { ReferenceUnreliable } from './reference_unreliable.ts';

const mtus = [
  [PathMtu.mtu256, 256],
  [PathMtu.mtu512, 512],
  [PathMtu.mtu1024, 1024],
] as const;
const receiveSlots = 16;
const receiveBytes = 2048;
/** Half of the PSN space: the PSNs before the expected one are duplicates, the others are ahead (9.7.5). */
const window = 2 ** 23;

type Packet = Partial<ReferencePacket> & Pick<ReferencePacket, 'opcode' | 'psn'>;

/** Random attributes of a connection; one connection in four lacks access rights. */
export function anyAttributes(random: Random): LineAttributes & { readonly mtu: number } {
  const [pathMtu, mtu] = random.pick(mtus);
  return {
    pathMtu,
    mtu,
    accessFlags: random.once(4) ? random.below(16) : everyAccess,
    partitionKey: random.pick([0xffff, 0x8123, 0x0123]),
    receivePsn: random.once(4) ? 2 ** 24 - 1 - random.below(4) : random.below(2 ** 24),
    sendPsn: random.once(4) ? 2 ** 24 - 1 - random.below(4) : random.below(2 ** 24),
    maxDestinationReadAtomic: 1 + random.below(16),
    minReceiverNotReadyTimer: 1 + random.below(31),
    timeout: 1 + random.below(6),
    retryCount: random.below(8),
    receiverNotReadyRetry: random.below(8),
    maxReadAtomic: 1 + random.below(4),
  };
}

/**
 * Tests the device as responder: the peer sends it valid and invalid packets, and a reference says which answers, memory and completions
 * must follow.
 */
export class ReferenceRequests {
  private readonly random: Random;
  private readonly line: Line;
  private readonly received: ReferenceMemory;
  private readonly memories: ReferenceMemory[];
  private readonly formerKeys: number[] = [];
  private attributes!: ReturnType<typeof anyAttributes>;
  private reference!: Responder;
  private readonly service: 'RC' | 'UC';
  private posted = 0;

  constructor(random: Random, wire: Wire, number: number, service: 'RC' | 'UC') {
    this.random = random;
    this.service = service;
    this.line = new Line(wire, number, service);
    const { protectionDomain } = this.line;
    this.received = new ReferenceMemory(random, protectionDomain, 0, receiveSlots * receiveBytes);
    this.memories = accesses.map((access) => new ReferenceMemory(random, protectionDomain, access));
    this.begin();
  }

  /** Performs one random action of the peer or of the program, and checks the result. */
  act(): void {
    const { random, reference } = this;
    if (reference.isDead) {
      this.end();
      return;
    }
    if (random.once(3)) this.postReceives();
    const common = [
      () => this.send(this.message('send')),
      () => this.send(this.message('write')),
      () => this.sendElsewhere(),
      () => this.sendWrong(),
      () => this.renew(),
    ];
    const reliable = [
      () => this.send([this.read()]),
      () => this.send([this.atomic()]),
      () => this.sendReads(),
      () => this.sendDuplicate(),
    ];
    const unreliably = [() => this.sendIncomplete(), () => this.sendIncomplete()];
    random.pick([...common, ...(this.service === 'RC' ? reliable : unreliably)])();
  }

  close(): void {
    for (const memory of [this.received, ...this.memories]) memory.close();
    this.line.close();
  }

  private begin(): void {
    const { random, line } = this;
    this.attributes = anyAttributes(random);
    line.connect(this.attributes);
    const Reference = this.service === 'RC' ? ReferenceResponder : ReferenceUnreliable;
    this.reference = new Reference(this.attributes, this.received, (key) =>
      this.memories.find(({ region }) => region.remoteKey === key),
    );
  }

  /** Requires the queue pair to be in ERR, and connects it again. */
  private end(): void {
    const { line } = this;
    require(line.state === QueuePairState.error, () => `${line.name}: is not in ERR`);
    line.restart(this.random);
    this.begin();
  }

  private postReceives(): void {
    const { random, reference, line, received } = this;
    for (let count = random.below(4); count > 0 && reference.receives.length < receiveSlots / 2; count--) {
      const wrId = this.posted++;
      const at = (wrId % receiveSlots) * receiveBytes;
      const capacity = random.once(4) ? random.below(300) : receiveBytes;
      const cut = random.below(capacity + 1);
      const { region } = received;
      line.queuePair.postReceive({
        wrId,
        scatter: [region.slice(at, cut), region.slice(at + cut, capacity - cut)],
      });
      reference.receives.push({ wrId, at, capacity });
    }
  }

  /** Sends packets, at once or one by one, and checks the answers. */
  private send(packets: readonly Packet[]): void {
    const { random, line, reference } = this;
    const isBurst = random.once(2);
    let expected: Answer[] = [];
    for (const [index, packet] of packets.entries()) {
      line.inject({ ...packet, opcode: packet.opcode + (this.service === 'UC' ? unreliable : 0) });
      expected.push(...reference.take({ ...blank, partitionKey: line.peerPartitionKey, ...packet }));
      if (isBurst && index < packets.length - 1 && !reference.isDead) continue;
      this.judge(expected);
      expected = [];
    }
    this.verify();
  }

  /** @throws Violation the board sent other answers than expected */
  private judge(expected: readonly Answer[]): void {
    const { line } = this;
    const sent = line.settle().map(({ packet }) => packet);
    let at = 0;
    for (const [index, answer] of expected.entries()) {
      const packet = sent[at];
      const isIt = packet !== undefined && isAnswer(packet, answer);
      if (isIt) at++;
      else {
        // A later answer also acknowledges the requests before it.
        const isTold =
          answer.syndrome >> 5 === 0 && answer.opcode === code.acknowledge && index < expected.length - 1;
        require(isTold || answer.isOptional, () =>
          `${line.name}: answers ${nameOf(packet)}, not ${nameOf(answer)}`);
      }
    }
    require(at === sent.length, () => `${line.name}: answers ${nameOf(sent[at])}, which is too much`);
  }

  /** @throws Violation memory or completions differ from the reference */
  private verify(): void {
    const { line, received, memories, reference } = this;
    if (reference.isDead) reference.flush();
    for (const memory of [received, ...memories]) memory.verify(line.name);
    const completed = line.completed();
    const expected = reference.completions.splice(0);
    require(completed.length === expected.length, () =>
      `${line.name}: ${completed.length} receives complete, and ${expected.length} have to`);
    for (const [index, { wrId, status, byteLength, immediateData }] of expected.entries()) {
      const found = completed[index]!;
      require(found.wrId === wrId && found.status === status, () =>
        `${line.name}: receive ${found.wrId} ${completionStatusNames[found.status]}, not ${wrId} ${completionStatusNames[status]}`);
      if (status !== CompletionStatus.success) continue;
      require(found.byteLength === byteLength, () =>
        `${line.name}: receive ${wrId} has ${found.byteLength} B, not ${byteLength}`);
      require(immediateData === undefined || found.immediateData === immediateData, () =>
        `${line.name}: receive ${wrId} has other immediate data`);
    }
  }

  /** The packets of a message, starting at the expected PSN; some messages exceed their receive by one byte. */
  private message(kind: 'send' | 'write'): Packet[] {
    const { random, reference } = this;
    const { mtu } = this.attributes;
    const [receive] = reference.receives;
    const isMeasured = kind === 'send' && receive !== undefined && random.once(3);
    const length = isMeasured ? Math.min(receive.capacity + random.below(2), 3 * mtu) : this.length(3 * mtu);
    const { address, key } = this.place(length);
    const immediate = random.once(3) ? random.below(2 ** 31) : undefined;
    const count = Math.max(1, Math.ceil(length / mtu));
    const base = kind === 'send' ? code.sendFirst : code.writeFirst;
    const payload = this.bytes(length);
    return Array.from({ length: count }, (_, index) => ({
      opcode: base + place(index, count) + (index === count - 1 && immediate !== undefined ? 1 : 0),
      psn: psnAfter(reference.expectedPsn, index),
      acknowledgeRequest: index === count - 1 || random.once(3),
      payload: payload.subarray(index * mtu, (index + 1) * mtu),
      address,
      key,
      length,
      immediate: immediate ?? 0,
    }));
  }

  private read(length = this.length(6 * this.attributes.mtu)): Packet {
    return {
      opcode: code.readRequest,
      psn: this.reference.expectedPsn,
      acknowledgeRequest: true,
      length,
      ...this.place(length),
    };
  }

  private atomic(): Packet {
    const { random } = this;
    const memory = random.once(6) ? random.pick(this.memories) : this.memories[0]!;
    const at = 8 * random.below(targetBytes / 8);
    const { expected, region } = memory;
    const { buffer, byteOffset } = expected;
    const found = new DataView(buffer, byteOffset).getBigUint64(at, true);
    return {
      opcode: random.pick([code.compareAndSwap, code.fetchAndAdd]),
      psn: this.reference.expectedPsn,
      acknowledgeRequest: true,
      address: region.address + BigInt(at + (random.once(8) ? 4 : 0)),
      key: region.remoteKey,
      swapAdd: BigInt(random.below(2 ** 31)),
      compare: random.once(2) ? found : 0n,
    };
  }

  /** Sends as many READs at once as the responder has resources for, or one more while the first is still being answered. */
  private sendReads(): void {
    const { random, line } = this;
    const reference = this.reference as ReferenceResponder;
    const { maxDestinationReadAtomic: most, mtu, accessFlags } = this.attributes;
    const [memory] = this.memories as [ReferenceMemory];
    // A READ of at least eight packets is still being answered when the next one arrives.
    const tooMany = random.once(3) && most <= 2 && targetBytes / mtu >= 8;
    const expected: Answer[] = [];
    const length = tooMany ? targetBytes : 1 + random.below(2 * mtu);
    for (let count = 0; count < most + (tooMany ? 1 : 0); count++) {
      const packet = { ...this.read(length), address: memory.region.address, key: memory.region.remoteKey };
      line.inject(packet);
      // The responder answers the excess READ with a NAK for an invalid request (9.7.4.1.1).
      const isTooMany = count === most && (accessFlags & 4) !== 0;
      if (isTooMany) reference.isDead = true;
      else expected.push(...reference.take({ ...blank, partitionKey: line.peerPartitionKey, ...packet }));
      if (reference.isDead) break;
    }
    if (!tooMany) this.judge(expected);
    else this.judgeTooMany(expected);
    this.verify();
  }

  /** The board need not answer earlier requests, because the connection has failed. */
  private judgeTooMany(expected: readonly Answer[]): void {
    const { line } = this;
    const sent = line.settle().map(({ packet }) => packet);
    const last = sent.pop();
    require(last?.opcode === code.acknowledge && last.syndrome === 0x61, () =>
      `${line.name}: answers ${nameOf(last)} to a READ more than it has resources for`);
    for (const [index, packet] of sent.entries()) {
      const answer = expected[index];
      require(answer !== undefined && isAnswer(packet, answer), () =>
        `${line.name}: answers ${nameOf(packet)} to READs`);
    }
  }

  /** Repeats an earlier request: a message with other data, a READ or part of one, an atomic. */
  private sendDuplicate(): void {
    const { random, reference } = this;
    const { executed, expectedPsn } = reference;
    const { mtu } = this.attributes;
    if (executed.length > 0 && random.once(2)) {
      const { packet } = executed[Math.max(0, executed.length - 1 - random.below(4))]!;
      if (kindOf(packet.opcode) === 'atomic') {
        this.send([packet]);
        return;
      }
      const skipped = random.below(Math.max(1, Math.ceil(packet.length / mtu)));
      const isPart = random.once(2);
      const length = packet.length - (isPart ? skipped * mtu : 0);
      const part = {
        ...packet,
        psn: psnAfter(packet.psn, isPart ? skipped : 0),
        address: packet.address + BigInt(isPart ? skipped * mtu : 0),
        length,
      };
      const isReachable = length === 0 || this.memories.some(({ region }) => region.remoteKey === packet.key);
      const isLast = executed.at(-1)!.packet === packet;
      // A longer READ than the original extends beyond the expected PSN.
      if (isLast && random.once(4))
        this.send([{ ...part, length: (psnDistance(part.psn, expectedPsn) + 1) * mtu + length }]);
      else if (isReachable) this.send([part]);
      return;
    }
    const back = random.once(4) ? window : 1 + random.below(random.once(2) ? 4 : window);
    const [first] = this.message(random.pick(['send', 'write']));
    if (!executed.some(({ psn }) => psn === psnAfter(expectedPsn, -back)))
      this.send([{ ...first!, psn: psnAfter(expectedPsn, -back) }]);
  }

  /** Sends a message of which packets are lost, or all arrive in reverse order, or the PSN is ahead. */
  private sendIncomplete(): void {
    const { random } = this;
    const packets = this.message(random.pick(['send', 'write']));
    if (packets.length === 1)
      packets[0] = { ...packets[0]!, psn: psnAfter(packets[0]!.psn, random.below(window)) };
    else if (random.once(3)) packets.reverse();
    else packets.splice(random.below(packets.length), 1 + random.below(2));
    this.send(packets);
  }

  /** Sends packets ahead of the expected PSN, then sometimes the missing ones; or a packet of another partition. */
  private sendElsewhere(): void {
    const { random, reference, attributes } = this;
    const packets = this.message(random.pick(['send', 'write']));
    if (random.once(2)) {
      const others = [attributes.partitionKey ^ 0x8000, attributes.partitionKey ^ 1, 0x7fff, 0x0123, 0x8123];
      this.send([{ ...packets[0]!, partitionKey: random.pick(others) }]);
      return;
    }
    const ahead = random.once(4) ? window - 1 : 1 + random.below(random.once(2) ? 4 : window - 1);
    for (let count = 1 + random.below(3); count > 0; count--)
      this.send([{ ...packets[0]!, psn: psnAfter(reference.expectedPsn, ahead) }]);
    if (random.once(2)) this.send(packets);
  }

  /** Sends a request that the device must refuse. */
  private sendWrong(): void {
    const { random, attributes } = this;
    const packets = this.message(random.pick(['send', 'write']));
    const at = random.below(packets.length);
    const packet = packets[at]!;
    const payload = packet.payload!;
    const wrong: readonly (() => Packet)[] = [
      () => ({ ...packet, opcode: random.below(code.writeOnlyImmediate + 1) }),
      () => ({ ...packet, payload: this.bytes(payload.length + 1) }),
      () => ({ ...packet, payload: payload.subarray(1) }),
      () => ({ ...packets.at(-1)!, payload: new Uint8Array() }),
      () => ({ ...packet, length: packet.length! + (random.once(2) ? 1 : -1) }),
      () => ({ ...this.read(), opcode: code.readRequest, length: 2 ** 31 + 1 }),
      () => ({ ...packet, payload: this.bytes(attributes.mtu + 1) }),
    ];
    const made = random.pick(wrong)();
    this.send([...packets.slice(0, at), { ...made, length: Math.max(0, made.length ?? 0) }]);
  }

  /** Deregisters memory and registers it again, which invalidates its key. */
  private renew(): void {
    const { random, formerKeys } = this;
    formerKeys.push(random.pick(this.memories).renew());
    if (formerKeys.length > 8) formerKeys.shift();
  }

  private length(most: number): number {
    const { random } = this;
    const { mtu } = this.attributes;
    const lengths = [0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu, random.below(most + 1), random.below(most + 1)];
    return random.pick(lengths);
  }

  /** An address and key for `length` bytes: mostly valid, else out of bounds or with an invalid key. */
  private place(length: number): { address: bigint; key: number } {
    const { random, formerKeys } = this;
    const memory = random.once(8) ? random.pick(this.memories) : this.memories[0]!;
    const { address, remoteKey } = memory.region;
    const isLive = (key: number): boolean => this.memories.some(({ region }) => region.remoteKey === key);
    const former = formerKeys.filter((key) => !isLive(key));
    const room = targetBytes - length;
    const wrong = random.below(24);
    if (wrong === 0) return { address: address + BigInt(room + 1), key: remoteKey };
    if (wrong === 1) return { address: address - 1n, key: remoteKey };
    if (wrong === 2 && !isLive(remoteKey ^ 1)) return { address, key: remoteKey ^ 1 };
    if (wrong <= 4 && former.length > 0) return { address, key: random.pick(former) };
    const at = random.once(3) ? room : random.below(room + 1);
    return { address: address + BigInt(at), key: remoteKey };
  }

  private bytes(length: number): Uint8Array {
    const first = this.random.below(256);
    return Uint8Array.from({ length }, (_, at) => first + at * 7 + (at >> 8));
  }
}

/** The offset of a packet's opcode from that of a first packet, by its position in the message. */
export function place(index: number, count: number): number {
  if (count === 1) return code.sendOnly;
  if (index === 0) return code.sendFirst;
  return index === count - 1 ? code.sendLast : code.sendMiddle;
}

function isAnswer(packet: ReferencePacket, answer: Answer): boolean {
  const { opcode, psn, syndrome, messageSequenceNumber, original, payload } = answer;
  const isMiddle = opcode === code.readMiddle;
  return (
    packet.opcode === opcode &&
    packet.psn === psn &&
    (isMiddle || (packet.syndrome === syndrome && packet.messageSequenceNumber === messageSequenceNumber)) &&
    packet.original === original &&
    Buffer.compare(packet.payload, payload) === 0
  );
}

function nameOf(packet: ReferencePacket | Answer | undefined): string {
  if (packet === undefined) return 'nothing';
  const { opcode, psn, syndrome, messageSequenceNumber, payload } = packet;
  return `${opcode} PSN ${psn} syndrome ${syndrome.toString(16)} MSN ${messageSequenceNumber} of ${payload.length} B`;
}
