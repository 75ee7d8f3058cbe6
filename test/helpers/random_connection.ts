import { expect } from 'vitest';

import {
  CompletionOpcode,
  CompletionStatus,
  Opcode,
  PathMtu,
  type Completion,
  type MemoryRegion,
  type MemorySlice,
  type SendRequest,
} from '../../lib/index.ts';
import type { Random } from './random.mjs';
import { connect, everyRight, makeEnd, type ConnectOptions, type End } from './connected.ts';
import type { Verbs } from './make_verbs.ts';

const slotBytes = 2048;
const mostReceives = 64; // capacity of the receive queue
const lengths = [0, 1, 3, 64, 255, 256, 257, 512, 1025, slotBytes];

/** The expected completion of each post of the client, in the order of posting. */
interface Posted {
  readonly wrId: number;
  readonly check: () => void;
}

/**
 * Two queue pairs of which one sends at random and the other posts receives, not always in time. Each work request has a slot
 * of its own in every memory, so that none depends on the order in which data is written.
 */
export class RandomConnection {
  readonly client: End;
  readonly server: End;
  private readonly random: Random;
  private readonly messages: number;
  private readonly source: MemoryRegion;
  private readonly brought: MemoryRegion;
  private readonly target: MemoryRegion;
  private readonly received: MemoryRegion;
  private readonly word: MemoryRegion;
  private readonly expected: Posted[] = [];
  private readonly written: { slot: number; length: number }[] = [];
  private readonly announced: { slot: number; length: number; data: boolean }[] = [];
  private posted = 0;
  private receives = 0;
  private receivesTaken = 0;
  private adds = 0n;

  constructor(random: Random, messages: number, client: Verbs, server: Verbs, changes: ConnectOptions = {}) {
    this.random = random;
    this.messages = messages;
    this.client = makeEnd(client);
    this.server = makeEnd(server);
    const options: ConnectOptions = {
      pathMtu: random.pick([PathMtu.mtu256, PathMtu.mtu512, PathMtu.mtu1024]),
      sendPsn: 0xff_ffe0,
      receivePsn: 0xff_ffe0,
      minReceiverNotReadyTimer: 1,
      maxReadAtomic: 1 + random.below(4),
      ...changes,
    };
    connect(this.client, this.server, options);
    connect(this.server, this.client, options);
    const memory = ({ verbs }: End): MemoryRegion =>
      verbs.protectionDomain.allocate(messages * slotBytes, everyRight);
    [this.source, this.brought] = [memory(this.client), memory(this.client)];
    [this.target, this.received] = [memory(this.server), memory(this.server)];
    this.word = server.protectionDomain.allocate(8, everyRight);
    const { bytes } = this.source;
    for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 7 + (at >> 8) * 13) & 0xff;
  }

  get isDone(): boolean {
    return this.posted === this.messages && this.expected.length === 0 && this.announced.length === 0;
  }

  /** Whether a completion of `side` belongs to it. */
  owns(side: Verbs, { workQueue, queuePairNumber }: Completion): boolean {
    const end = workQueue === 0 ? this.client : this.server;
    return end.verbs === side && end.queuePair.number === queuePairNumber;
  }

  /** Its progress. */
  get progress(): string {
    const { posted, expected, announced, receives } = this;
    return `${posted} posted, ${expected.length} not complete, ${announced.length} not received, ${receives} receives`;
  }

  /** Posts a random work request, or none. */
  act(): void {
    const room = Math.min(this.messages - this.posted, 32 - this.expected.length);
    const requests = Array.from({ length: Math.min(this.random.below(6), room) }, () => this.request());
    if (requests.length === 1) this.client.queuePair.postSend(requests[0]!);
    else if (requests.length > 1) this.client.queuePair.postSend(requests);
    if (this.receives === this.messages || this.random.below(3) !== 0) return;
    if (this.receives - this.receivesTaken === mostReceives) return; // the receive queue is full
    const wrId = this.receives++;
    this.server.queuePair.postReceive({ wrId, scatter: this.pieces(this.received, wrId, slotBytes) });
  }

  /** Checks one of its completions, and the data. */
  take({ status, workQueue, opcode, wrId, byteLength, immediateData }: Completion): void {
    expect(status).toBe(CompletionStatus.success);
    if (workQueue === 0) {
      const posted = this.expected.shift()!;
      expect(wrId).toBe(posted.wrId);
      posted.check();
      return;
    }
    this.receivesTaken += 1;
    const { slot, length, data } = this.announced.shift()!;
    expect({ byteLength, immediateData }).toEqual({ byteLength: length, immediateData: slot });
    expect(opcode).toBe(data ? CompletionOpcode.receive : CompletionOpcode.receiveRdmaWithImmediate);
    if (data) this.compare(this.received, wrId, slot, length);
    else this.compare(this.target, slot, slot, length);
  }

  private request(): SendRequest {
    const wrId = this.posted++;
    const length = this.random.pick(lengths);
    const common = { wrId, signaled: true, gather: this.pieces(this.source, wrId, length) };
    const remote = this.target.remote().slice(wrId * slotBytes, length);
    let check = (): void => {};
    let request: SendRequest;
    switch (this.random.below(5)) {
      case 0:
        this.announced.push({ slot: wrId, length, data: true });
        request = { ...common, opcode: Opcode.sendWithImmediate, immediateData: wrId };
        break;
      case 1:
        this.announced.push({ slot: wrId, length, data: false });
        request = { ...common, opcode: Opcode.rdmaWriteWithImmediate, immediateData: wrId, remote };
        break;
      case 2:
        this.written.push({ slot: wrId, length });
        check = () => this.compare(this.target, wrId, wrId, length);
        request = { ...common, opcode: Opcode.rdmaWrite, remote };
        break;
      case 3: {
        const { slot, length: had } =
          this.written.length > 0 ? this.random.pick(this.written) : { slot: 0, length: 0 };
        check = () => this.compare(this.brought, wrId, slot, had);
        request = {
          ...common,
          opcode: Opcode.rdmaRead,
          remote: this.target.remote().slice(slot * slotBytes, had),
          gather: this.pieces(this.brought, wrId, had),
        };
        break;
      }
      default: {
        const former = this.adds++;
        const at = wrId * slotBytes;
        check = () => expect(new DataView(this.brought.bytes.buffer).getBigUint64(at, true)).toBe(former);
        request = {
          ...common,
          opcode: Opcode.atomicFetchAndAdd,
          compareAdd: 1n,
          remote: this.word.remote(),
          gather: [this.brought.slice(at, 8)],
        };
      }
    }
    this.expected.push({ wrId, check });
    return this.random.below(4) === 0 ? { ...request, fence: true } : request;
  }

  private pieces(region: MemoryRegion, slot: number, length: number): MemorySlice[] {
    const cut = this.random.below(length + 1);
    const at = slot * slotBytes;
    return [region.slice(at, cut), region.slice(at + cut, length - cut)];
  }

  /** Checks that a slot of a memory holds the data of a slot of the source. */
  private compare({ bytes }: MemoryRegion, slot: number, sent: number, length: number): void {
    const [there, here] = [bytes.subarray(slot * slotBytes), this.source.bytes.subarray(sent * slotBytes)];
    expect(Buffer.compare(there.subarray(0, length), here.subarray(0, length))).toBe(0);
  }
}
