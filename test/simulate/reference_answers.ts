import {
  CompletionStatus,
  Opcode,
  QueuePairState,
  completionStatusNames,
  type SendRequest,
} from '../../lib/index.ts';
import type { Random } from '../helpers/random.mjs';
import { require } from './party.ts';
import { Line, type Sent, type Wire } from './reference_line.ts';
import { ReferenceMemory, everyAccess } from './reference_memory.ts';
import { code, psnAfter, psnMask, type ReferencePacket } from './reference_packet.ts';
import { anyAttributes, place } from './reference_requests.ts';

const {
  success,
  retryExceededError,
  receiverNotReadyRetryExceededError,
  remoteInvalidRequestError,
  remoteAccessError,
  remoteOperationError,
  workRequestFlushedError,
} = CompletionStatus;
const acknowledged = 0x1f;
const sequenceError = 0x60;
const refusals = [
  [0x61, remoteInvalidRequestError],
  [0x62, remoteAccessError],
  [0x63, remoteOperationError],
] as const;
const forever = 7;
const remoteAddress = 0x1234_5678_9000n;
const remoteKey = 0x77_0011;
/** The wait of an RNR NAK by its code, in units of 10 µs (InfiniBand volume 1, table 45); short codes only. */
const waits = [65_536, 1, 2, 3, 4, 6, 8, 12] as const;
const nanosecondsOfAWait = 10_000n;
const [shortestTimeoutCode, timeoutCodes] = [4, 4];
const shortestTimeout = 4096n << BigInt(shortestTimeoutCode);
const slotBytes = 4096;
const slots = 8;

/** A work request and its expected packets. */
interface Sending {
  readonly wrId: number;
  readonly kind: 'message' | 'read' | 'atomic';
  readonly packets: readonly Expected[];
  /** The number of PSNs that it uses; for a READ, those of its response packets. */
  readonly psns: number;
  readonly at: number;
  readonly length: number;
}

type Expected = Pick<
  ReferencePacket,
  'opcode' | 'psn' | 'address' | 'key' | 'length' | 'immediate' | 'payload' | 'swapAdd' | 'compare'
>;

/**
 * Tests the device as requester of a reliable connection: the peer answers, loses packets and sends NAKs at random, and checks the packets,
 * retries, times and completions of the device.
 */
export class ReferenceAnswers {
  private readonly random: Random;
  private readonly line: Line;
  private readonly memory: ReferenceMemory;
  private attributes!: ReturnType<typeof anyAttributes>;
  private psn = 0;
  private messageSequenceNumber = 0;
  private made = 0;
  /** Remaining retries since the last progress. */
  private retries = 0;
  private receiverRetries = 0;

  constructor(random: Random, wire: Wire, number: number) {
    this.random = random;
    this.line = new Line(wire, number, 'RC');
    this.memory = new ReferenceMemory(random, this.line.protectionDomain, everyAccess, slots * slotBytes);
    this.begin();
  }

  /** Posts work requests, answers them at random, and checks the result. */
  act(): void {
    const { random } = this;
    const acts = [
      () => this.exchange(this.post()),
      () => this.exchange(this.post()),
      () => this.exchangeReads(),
      () => this.exchangeTwo(),
    ];
    random.pick(acts)();
    this.memory.verify(this.line.name);
  }

  close(): void {
    this.memory.close();
    this.line.close();
  }

  private begin(): void {
    const { random, line } = this;
    this.attributes = { ...anyAttributes(random), timeout: shortestTimeoutCode + random.below(timeoutCodes) };
    line.connect(this.attributes);
    this.psn = this.attributes.sendPsn;
    this.messageSequenceNumber = 0;
    this.progress();
  }

  /** Restores the retry counters after progress (9.7.6.1.2 and 9.7.5.2.8). */
  private progress(): void {
    this.retries = this.attributes.retryCount;
    this.receiverRetries = this.attributes.receiverNotReadyRetry;
  }

  /** Sends one work request, loses or refuses it several times, then answers it or lets it fail. */
  private exchange(posted: Sending): void {
    const { random, line } = this;
    let sending = posted;
    // The responder sends one NAK for a gap, so the peer sends no second one.
    let isRefused = false;
    this.expect(line.settle(), sending.packets, 'sends');
    for (;;) {
      const chance = random.below(8);
      if (chance === 0 && !this.lose(sending)) return;
      if (chance === 1 && sending.kind === 'message') {
        if (!this.wait(sending)) return;
        isRefused = false;
      }
      if (chance === 2 && !isRefused) {
        const left = this.refuseSequence(sending);
        if (left === undefined) return;
        sending = left;
        isRefused = true;
      }
      if (chance === 3) this.sendGhosts(sending);
      if (chance === 4 && random.once(3)) {
        const [syndrome, status] = random.pick(refusals);
        this.answer(sending.packets[0]!.psn, syndrome);
        this.end([[sending.wrId, status]]);
        return;
      }
      if (chance > 4) break;
    }
    this.complete(sending, !isRefused);
    this.succeed([sending]);
  }

  /** Sends no answer until the timer expires. @returns false: the work request must fail */
  private lose({ packets, wrId }: Sending): boolean {
    const { line, attributes } = this;
    const timeout = 4096n << BigInt(attributes.timeout);
    this.advance(timeout - 1n);
    this.expect(line.taken(), [], `within its timeout of ${timeout} ns sends`);
    const sent = this.waitForTimer(timeout);
    if (this.retries === 0) {
      this.expect(sent, [], 'beyond its retries sends');
      this.end([[wrId, retryExceededError]]);
      return false;
    }
    this.retries--;
    this.expect(sent, packets, 'after its timeout sends');
    return true;
  }

  /** Advances time until the device retries or completes: one to four times the timeout (9.7.6.1.3). */
  private waitForTimer(timeout: bigint): Sent[] {
    const { line } = this;
    const end = line.now + 4n * timeout;
    while (line.now < end) {
      this.advance(shortestTimeout / 8n);
      const sent = line.taken();
      if (sent.length > 0 || line.hasCompleted) return sent;
    }
    return [];
  }

  /** Answers with RNR NAK. @returns false: the work request must fail */
  private wait({ packets, wrId }: Sending): boolean {
    const { random, line, attributes } = this;
    const timer = 1 + random.below(waits.length - 1);
    this.answer(packets[0]!.psn, 0x20 | timer);
    const begin = line.now;
    const wait = BigInt(waits[timer]!) * nanosecondsOfAWait;
    this.expect(line.settle(), [], 'before its wait sends');
    if (attributes.receiverNotReadyRetry !== forever && this.receiverRetries === 0) {
      this.end([[wrId, receiverNotReadyRetryExceededError]]);
      return false;
    }
    this.receiverRetries--;
    // The RNR NAK shows that the packet arrived, so the retry counter starts again.
    this.retries = attributes.retryCount;
    this.advance(wait - (line.now - begin) - 1n);
    this.expect(line.taken(), [], `within the ${wait} ns that it has to wait sends`);
    this.expect(this.waitForTimer(wait), packets, 'after its wait sends');
    return true;
  }

  /**
   * Answers with a NAK for a missing packet, which acknowledges the packets before it.
   * @returns the unacknowledged part; undefined: the work request must fail
   */
  private refuseSequence(sending: Sending): Sending | undefined {
    const { random, line } = this;
    const { packets, psns, wrId } = sending;
    const missing = random.below(packets.length);
    if (missing > 0) this.progress();
    this.answer(packets[missing]!.psn, sequenceError);
    if (this.retries === 0) {
      this.expect(line.settle(), [], 'beyond its retries sends');
      this.end([[wrId, retryExceededError]]);
      return undefined;
    }
    this.retries--;
    const left = packets.slice(missing);
    this.expect(line.settle(), left, 'after a NAK sends');
    return { ...sending, packets: left, psns: psns - missing };
  }

  /** Sends ACKs that the device must ignore: of old requests, of requests never sent, and of another partition. */
  private sendGhosts(sending: Sending): void {
    const { random, line } = this;
    const [first] = sending.packets as [Expected];
    const ghosts: readonly Partial<ReferencePacket>[] = [
      { psn: psnAfter(first.psn, -1 - random.below(1000)), syndrome: acknowledged },
      { psn: psnAfter(first.psn, -1 - random.below(1000)), syndrome: 0x62 },
      { psn: psnAfter(first.psn, sending.psns + random.below(1000)), syndrome: acknowledged },
      { psn: psnAfter(first.psn, sending.psns + random.below(1000)), syndrome: 0x62 },
      { psn: psnAfter(first.psn, sending.psns - 1), syndrome: acknowledged, partitionKey: 0x8124 },
      { psn: psnAfter(first.psn, 2 ** 23), syndrome: acknowledged },
    ];
    line.inject({ ...random.pick(ghosts), opcode: code.acknowledge });
    this.expect(line.settle(), [], 'after a ghost sends');
    require(line.completed().length === 0, () => `${line.name}: a ghost completes work requests`);
  }

  /** Sends the answers that complete a work request. */
  private complete(sending: Sending, mayLose: boolean): void {
    const { random, line, attributes } = this;
    const { kind, packets, length, at, psns } = sending;
    const [first] = packets as [Expected];
    this.messageSequenceNumber++;
    if (kind === 'message') {
      this.answer(packets.at(-1)!.psn, acknowledged);
      return;
    }
    if (kind === 'atomic') {
      const original = BigInt(random.below(2 ** 31)) * 0x1_2345_6789n;
      this.answer(first.psn, acknowledged, { opcode: code.atomicAcknowledge, original });
      new DataView(this.memory.expected.buffer, this.memory.expected.byteOffset).setBigUint64(
        at,
        original,
        true,
      );
      return;
    }
    const { mtu } = attributes;
    const bytes = Uint8Array.from({ length }, () => random.below(256));
    const isLost = mayLose && psns > 1 && this.retries > 0 && random.once(3);
    const lost = isLost ? random.below(psns) : psns;
    // After a lost response packet, the next one shows the gap, and the device requests the rest again (9.7.5.2.8 and 9.7.4.1.2).
    for (let index = 0; index < psns; index++)
      if (index !== lost) this.respond(first.psn, index, psns, bytes);
    if (isLost && lost < psns - 1) {
      this.expect(line.settle(), [this.readFrom(first, lost * mtu)], 'after a gap of answers sends');
      for (let index = lost; index < psns; index++) this.respond(first.psn, index, psns, bytes, lost);
    } else if (isLost) {
      const timeout = 4096n << BigInt(attributes.timeout);
      line.settle();
      this.expect(
        this.waitForTimer(timeout),
        [this.readFrom(first, lost * mtu)],
        'without its last answer sends',
      );
      this.respond(first.psn, lost, psns, bytes, lost);
    }
    this.memory.expected.set(bytes, at);
  }

  /** Sends one response packet of a READ. @param from the packet at which the repeated request begins */
  private respond(psn: number, index: number, count: number, bytes: Uint8Array, from = 0): void {
    const { mtu } = this.attributes;
    const [behind, all] = [index - from, count - from];
    const opcode =
      all === 1
        ? code.readOnly
        : behind === 0
          ? code.readFirst
          : behind === all - 1
            ? code.readLast
            : code.readMiddle;
    this.answer(psnAfter(psn, index), acknowledged, {
      opcode,
      payload: bytes.subarray(index * mtu, (index + 1) * mtu),
    });
  }

  /** Posts more READs and atomics than may be outstanding; the excess ones must wait. */
  private exchangeReads(): void {
    const { random, line, attributes } = this;
    const all = Array.from({ length: attributes.maxReadAtomic + random.below(3) }, () =>
      this.post(random.once(3) ? 'atomic' : 'read'),
    );
    let sent = Math.min(all.length, attributes.maxReadAtomic);
    this.expect(
      line.settle(),
      all.slice(0, sent).flatMap(({ packets }) => packets),
      'of its depth sends',
    );
    for (const sending of all) {
      this.complete(sending, false);
      const next = all.slice(sent, sent + 1);
      sent += next.length;
      this.expect(
        line.settle(),
        next.flatMap(({ packets }) => packets),
        'once one is answered sends',
      );
      this.progress();
    }
    this.succeed(all);
  }

  /** The number of RNR NAKs that the device must tolerate; without a limit, more than any finite one. */
  private get mostWaits(): number {
    return this.attributes.receiverNotReadyRetry === forever ? forever + 2 : this.receiverRetries;
  }

  /** Uses up the retries of one message, acknowledges it, and requires the full number for the next. */
  private exchangeTwo(): void {
    const { line, random } = this;
    const isWaiting = random.once(2);
    for (let count = 0; count < 2; count++) {
      const sending = this.post('message');
      this.expect(line.settle(), sending.packets, 'sends');
      const most = isWaiting ? this.mostWaits : this.retries;
      for (let times = 0; times < most; times++)
        if (!(isWaiting ? this.wait(sending) : this.lose(sending))) return;
      this.complete(sending, false);
      this.succeed([sending]);
    }
  }

  /** @throws Violation the work requests have not completed in this order */
  private succeed(all: readonly Sending[]): void {
    this.expect(this.line.settle(), [], 'when all is acknowledged sends');
    this.check(all.map(({ wrId }) => [wrId, success]));
    this.progress();
  }

  /** Requires that the queue pair is in ERR and that the work requests, and a later one, complete with errors; then connects it again. */
  private end(expected: readonly (readonly [number, CompletionStatus])[]): void {
    const { line, random } = this;
    this.expect(line.settle(), [], 'as it gives up sends');
    const behind = this.made++;
    line.queuePair.postSend({ wrId: behind, opcode: Opcode.send, signaled: true });
    this.expect(line.settle(), [], 'in ERR sends');
    this.check([...expected, [behind, workRequestFlushedError]]);
    require(line.state === QueuePairState.error, () => `${line.name}: is not in ERR`);
    line.restart(random);
    line.taken();
    line.completed();
    this.begin();
  }

  private check(expected: readonly (readonly [number, CompletionStatus])[]): void {
    const { line } = this;
    const completed = line.completed();
    const say = (all: readonly (readonly [number, CompletionStatus])[]): string =>
      all.map(([wrId, status]) => `${wrId} ${completionStatusNames[status]}`).join(', ') || 'nothing';
    const found = completed.map(({ wrId, status }) => [wrId, status] as const);
    require(say(found) === say(expected), () =>
      `${line.name}: completes ${say(found)}, and has to ${say(expected)}`);
  }

  /** @throws Violation the device sent other packets */
  private expect(sent: readonly Sent[], expected: readonly Expected[], what: string): void {
    const { line } = this;
    for (const [index, packet] of expected.entries()) {
      const found = sent[index]?.packet;
      require(found !== undefined && isSame(found, packet), () =>
        `${line.name}: ${what} ${nameOf(found)}, and has to send ${nameOf(packet)}`);
    }
    const more = sent[expected.length];
    require(more === undefined, () => `${line.name}: ${what} ${nameOf(more!.packet)}, which is too much`);
  }

  private advance(ticks: bigint): void {
    const { board } = this.line.wire.party;
    if (ticks > 0n) board.advanceTime(ticks);
    board.runUntilIdle();
    this.line.wire.party.poll();
  }

  private answer(psn: number, syndrome: number, more: Partial<ReferencePacket> = {}): void {
    const { messageSequenceNumber } = this;
    this.line.inject({ opcode: code.acknowledge, psn, syndrome, messageSequenceNumber, ...more });
  }

  private post(kind: Sending['kind'] = this.random.pick(['message', 'message', 'read', 'atomic'])): Sending {
    const { random, line, attributes } = this;
    const wrId = this.made++;
    const at = (wrId % slots) * slotBytes;
    const { mtu } = attributes;
    const length = kind === 'atomic' ? 8 : random.pick([0, 1, mtu - 1, mtu, mtu + 1, random.below(3 * mtu)]);
    const cut = random.below(length + 1);
    const { region } = this.memory;
    const gather =
      kind === 'atomic'
        ? [region.slice(at, length)]
        : [region.slice(at, cut), region.slice(at + cut, length - cut)];
    const [request, packets] = this.requestOf(kind, at, length);
    line.queuePair.postSend({ ...request, wrId, signaled: true, gather });
    const psns = kind === 'read' ? Math.max(1, Math.ceil(length / mtu)) : packets.length;
    this.psn = psnAfter(this.psn, psns);
    return { wrId, kind, packets, psns, at, length };
  }

  private requestOf(kind: Sending['kind'], at: number, length: number): [SendRequest, Expected[]] {
    const { random, psn, attributes } = this;
    const { mtu } = attributes;
    const address = remoteAddress + BigInt(random.below(4096) * 8);
    const remote = {
      addressLow: Number(address & 0xffff_ffffn),
      addressHigh: Number(address >> 32n),
      key: remoteKey,
    };
    const empty = {
      psn,
      address,
      key: remoteKey,
      length,
      immediate: 0,
      swapAdd: 0n,
      compare: 0n,
      payload: nothing,
    };
    if (kind === 'read')
      return [{ opcode: Opcode.rdmaRead, remote }, [{ ...empty, opcode: code.readRequest }]];
    if (kind === 'atomic') {
      const [swap, compare] = [BigInt(random.below(2 ** 31)), BigInt(random.below(2 ** 31))];
      const packet = { ...empty, length: 0, swapAdd: swap };
      return random.once(2)
        ? [
            { opcode: Opcode.atomicFetchAndAdd, compareAdd: swap, remote },
            [{ ...packet, opcode: code.fetchAndAdd }],
          ]
        : [
            { opcode: Opcode.atomicCompareAndSwap, swap, compareAdd: compare, remote },
            [{ ...packet, compare, opcode: code.compareAndSwap }],
          ];
    }
    const isWrite = random.once(2);
    const immediate = random.once(3) ? random.below(2 ** 31) : undefined;
    const count = Math.max(1, Math.ceil(length / mtu));
    const base = isWrite ? code.writeFirst : code.sendFirst;
    const packets = Array.from({ length: count }, (_, index) => {
      const isLast = index === count - 1 && immediate !== undefined;
      const hasAddress = isWrite && index === 0;
      return {
        ...empty,
        opcode: base + place(index, count) + (isLast ? 1 : 0),
        psn: psnAfter(psn, index),
        immediate: isLast ? immediate : 0,
        payload: this.memory.expected.slice(at + index * mtu, at + Math.min(length, (index + 1) * mtu)),
        ...(!hasAddress && { address: 0n, key: 0, length: 0 }),
      };
    });
    const opcodes = isWrite
      ? ([Opcode.rdmaWrite, Opcode.rdmaWriteWithImmediate] as const)
      : ([Opcode.send, Opcode.sendWithImmediate] as const);
    const opcode = immediate === undefined ? opcodes[0] : opcodes[1];
    return [
      { opcode, ...(isWrite && { remote }), ...(immediate !== undefined && { immediateData: immediate }) },
      packets,
    ];
  }

  private readFrom(first: Expected, offset: number): Expected {
    const { mtu } = this.attributes;
    return {
      ...first,
      psn: psnAfter(first.psn, offset / mtu) & psnMask,
      address: first.address + BigInt(offset),
      length: first.length - offset,
    };
  }
}

const nothing = new Uint8Array();

function isSame(found: ReferencePacket, expected: Expected): boolean {
  return (
    found.opcode === expected.opcode &&
    found.psn === expected.psn &&
    found.address === expected.address &&
    found.key === expected.key &&
    found.length === expected.length &&
    found.immediate === expected.immediate &&
    found.swapAdd === expected.swapAdd &&
    found.compare === expected.compare &&
    Buffer.compare(found.payload, expected.payload) === 0
  );
}

function nameOf(packet: Expected | undefined): string {
  if (packet === undefined) return 'nothing';
  return `${packet.opcode} PSN ${packet.psn} of ${packet.payload.length} B, length ${packet.length}`;
}
