import {
  CompletionStatus,
  Opcode,
  completionStatusNames,
  type AddressHandle,
  type Completion,
  type ProtectionDomain,
  type QueuePair,
} from '../../lib/index.ts';
import { addressVectorTo, openQueuePair } from '../../lib/connect/index.ts';
import type { Random } from '../helpers/random.mjs';
import { Arena, fillPattern, isPattern } from './arena.ts';
import { require, type Owner, type Party } from './party.ts';

const routeBytes = 40;
const mostBytes = 1024;
const receiveBytes = routeBytes + mostBytes;
const receiveSlots = 32;
const queueKey = 0x1111_1111;
/** The number of indexes that a station has for its datagrams. */
const indexes = 1 << 16;

export interface StationOptions {
  readonly operations: number;
  /** No packet arrives twice. */
  readonly isOnce: boolean;
  readonly failures: boolean;
}

/** A queue pair of unreliable datagram that sends to any other. */
export class Station implements Owner {
  readonly party: Party;
  readonly queuePair: QueuePair;
  private readonly number: number;
  private readonly random: Random;
  private readonly options: StationOptions;
  /** All stations, by number. */
  private readonly stations: readonly Station[];
  private readonly protectionDomain: ProtectionDomain;
  private readonly arena: Arena;
  private readonly handles = new Map<Party, AddressHandle>();
  /** Each sent datagram: its bytes, and whether it may arrive. */
  private readonly sent: { readonly bytes: number; readonly to: Station; readonly isWelcome: boolean }[] = [];
  private readonly seen = new Set<number>();
  private outstanding = 0;
  private receives = 0;
  private receivesLeft = 0;

  constructor(
    number: number,
    random: Random,
    party: Party,
    stations: readonly Station[],
    options: StationOptions,
  ) {
    this.number = number;
    this.stations = stations;
    this.random = random;
    this.party = party;
    this.options = options;
    this.protectionDomain = party.context.createProtectionDomain();
    this.arena = new Arena(
      this.protectionDomain,
      receiveSlots * receiveBytes + options.operations * mostBytes,
      1,
    );
    const { completionQueue } = party;
    this.queuePair = this.protectionDomain.createQueuePair({
      type: 'UD',
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
      capabilities: { maxSendWorkRequests: 64, maxReceiveWorkRequests: 64 },
    });
    party.own(this.queuePair, this);
    openQueuePair(this.queuePair, party.addressOf(this.queuePair, random), queueKey);
  }

  get isDone(): boolean {
    return this.sent.length === this.options.operations && this.outstanding === 0;
  }

  get progress(): string {
    return `station ${this.number}: ${this.sent.length} sent, ${this.outstanding} not complete`;
  }

  act(): void {
    const { random, options } = this;
    for (let count = random.below(4); count > 0 && this.receivesLeft < receiveSlots; count--) {
      const wrId = this.receives++;
      this.receivesLeft++;
      this.queuePair.postReceive({
        wrId,
        scatter: [this.arena.region.slice(this.receiveAt(wrId), receiveBytes)],
      });
    }
    for (let count = random.below(4); count > 0; count--) {
      if (this.sent.length === options.operations || this.outstanding === receiveSlots) return;
      this.send(random.pick(this.stations));
    }
  }

  take(_: QueuePair, completion: Completion): void {
    const { status, workQueue, wrId, byteLength, immediateData } = completion;
    const tell = (what: string): string =>
      `station ${this.number}: ${completionStatusNames[status]}, ${what}`;
    require(status === CompletionStatus.success, () => tell(`work request ${wrId}`));
    if (workQueue === 0) {
      this.outstanding--;
      return;
    }
    this.receivesLeft--;
    const [sender, index] = [Math.floor(immediateData / indexes), immediateData % indexes];
    const datagram = this.stations[sender]?.sent[index];
    require(datagram !== undefined, () => tell(`${immediateData} was sent by no peer`));
    require(datagram.to === this && datagram.isWelcome, () => tell(`${immediateData} is not for it`));
    require(!this.options.isOnce || !this.seen.has(immediateData), () =>
      tell(`${immediateData} comes twice`));
    this.seen.add(immediateData);
    const data = this.arena.bytes.subarray(this.receiveAt(wrId) + routeBytes).subarray(0, datagram.bytes);
    require(byteLength === routeBytes + datagram.bytes, () => tell(`${immediateData} has ${byteLength} B`));
    require(isPattern(data, sender, index), () => tell(`the data is not that of ${immediateData}`));
  }

  /** @throws Violation memory was written without the right */
  verify(): void {
    require(this.arena.isIntact, () => `station ${this.number}: memory beside its region was written`);
    for (const [index, { bytes }] of this.sent.entries())
      require(isPattern(this.source(index, bytes), this.number, index), () =>
        `station ${this.number}: what ${index} sends was written`);
  }

  close(): void {
    this.party.disown(this.queuePair);
    this.queuePair.close();
    for (const handle of this.handles.values()) handle.close();
    this.arena.region.close();
    this.protectionDomain.close();
  }

  private send(to: Station): void {
    const { random, number, options } = this;
    const index = this.sent.length;
    const bytes = random.below(mostBytes + 1);
    const isWelcome = !options.failures || !random.once(5);
    fillPattern(this.source(index, bytes), number, index);
    this.sent.push({ bytes, to, isWelcome });
    this.outstanding++;
    this.queuePair.postSend({
      opcode: Opcode.sendWithImmediate,
      wrId: index,
      signaled: true,
      gather: [this.arena.region.slice(this.sourceAt(index), bytes)],
      immediateData: number * indexes + index,
      addressHandle: this.handleTo(to),
      destinationQueuePair: to.queuePair.number,
      queueKey: isWelcome ? queueKey : queueKey + 1,
    });
  }

  private handleTo({ party, queuePair }: Station): AddressHandle {
    let handle = this.handles.get(party);
    if (handle === undefined) {
      handle = this.protectionDomain.createAddressHandle(
        addressVectorTo(party.addressOf(queuePair, this.random)),
      );
      this.handles.set(party, handle);
    }
    return handle;
  }

  private receiveAt(receive: number): number {
    return (receive % receiveSlots) * receiveBytes;
  }

  private sourceAt(index: number): number {
    return receiveSlots * receiveBytes + index * mostBytes;
  }

  private source(index: number, bytes: number): Uint8Array {
    const at = this.sourceAt(index);
    return this.arena.bytes.subarray(at, at + bytes);
  }
}
