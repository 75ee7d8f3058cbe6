import {
  QueuePairState,
  type Completion,
  type PathMtu,
  type ProtectionDomain,
  type QueuePair,
} from '../../lib/index.ts';
import type { EmulatedBoard } from '../../lib/board/index.ts';
import type { Random } from '../helpers/random.mjs';
import { require, type Owner, type Party } from './party.ts';
import {
  blank,
  buildPacket,
  placeOf,
  readPacket,
  type Place,
  type ReferencePacket,
} from './reference_packet.ts';

/** A packet that has left the board, and when, clock ticks. */
export interface Sent {
  readonly packet: ReferencePacket;
  readonly time: bigint;
}

/** How the queue pair of a line is connected. */
export interface LineAttributes {
  readonly pathMtu: PathMtu;
  readonly accessFlags: number;
  /** P_Key of its partition, as the table of its port has it. */
  readonly partitionKey: number;
  readonly receivePsn: number;
  readonly sendPsn: number;
  readonly maxDestinationReadAtomic: number;
  readonly minReceiverNotReadyTimer: number;
  readonly timeout: number;
  readonly retryCount: number;
  readonly receiverNotReadyRetry: number;
  readonly maxReadAtomic: number;
}

/** Queue pairs of the references: that of a line is its number more. */
const firstQueuePair = 0x12_3400;
const partitionKeyIndex = 1;

/** Packets that leave a board, by the line that they go to. */
export class Wire {
  readonly party: Party;
  /** Of the board, and of the references. */
  readonly board: Place;
  readonly references: Place;
  private readonly sent = new Map<number, Sent[]>();

  /** @param sink a board of the same fabric, which drops what comes: references have its address */
  constructor(party: Party, sink: EmulatedBoard) {
    this.party = party;
    const { mac } = party.context.queryPort(1);
    this.board = placeOf(mac);
    // The last byte of an address is that of the board's number.
    this.references = placeOf(mac.with(5, mac[5]! - party.board.boardNumber + sink.boardNumber));
    party.board.startPacketTrace(4096);
  }

  /** Packets to a queue pair since the last time. */
  take(queuePair: number): Sent[] {
    for (const { direction, data, time } of this.party.board.takePackets()) {
      const packet = direction === 'out' ? readPacket(data) : undefined;
      if (packet === undefined) continue;
      const all = this.sent.get(packet.queuePair) ?? [];
      all.push({ packet, time });
      this.sent.set(packet.queuePair, all);
    }
    const taken = this.sent.get(queuePair) ?? [];
    this.sent.delete(queuePair);
    return taken;
  }
}

/** A queue pair whose peer is the reference: what it is sent and what it sends are packets alone. */
export class Line implements Owner {
  readonly name: string;
  readonly protectionDomain: ProtectionDomain;
  readonly wire: Wire;
  queuePair: QueuePair;
  attributes!: LineAttributes;
  private readonly peer: number;
  private readonly service: 'RC' | 'UC';
  private completions: Pick<Completion, 'wrId' | 'status' | 'workQueue' | 'byteLength' | 'immediateData'>[] =
    [];

  constructor(wire: Wire, number: number, service: 'RC' | 'UC') {
    this.wire = wire;
    this.peer = firstQueuePair + number;
    this.service = service;
    this.name = `${service} reference ${number}`;
    const { context } = wire.party;
    this.protectionDomain = context.createProtectionDomain();
    this.queuePair = this.make();
  }

  get now(): bigint {
    return this.wire.party.board.now();
  }

  /** The peer is a full member of the partition: a limited one may send to those alone (10.9.3). */
  get peerPartitionKey(): number {
    return this.attributes.partitionKey | 0x8000;
  }

  /** From RESET to RTS. */
  connect(attributes: LineAttributes): void {
    this.attributes = attributes;
    const { queuePair, service, wire } = this;
    const isReliable = service === 'RC';
    wire.party.context.setPartitionKey(1, partitionKeyIndex, attributes.partitionKey);
    const { accessFlags, pathMtu, receivePsn, sendPsn } = attributes;
    queuePair.modify({ state: QueuePairState.init, partitionKeyIndex, port: 1, accessFlags });
    queuePair.modify({
      state: QueuePairState.readyToReceive,
      addressVector: {
        port: 1,
        isGlobal: true,
        hopLimit: 64,
        destinationGid: wire.references.gid,
        destinationMac: wire.references.mac,
      },
      pathMtu,
      destinationQueuePair: this.peer,
      receivePsn,
      ...(isReliable && {
        maxDestinationReadAtomic: attributes.maxDestinationReadAtomic,
        minReceiverNotReadyTimer: attributes.minReceiverNotReadyTimer,
      }),
    });
    queuePair.modify({
      state: QueuePairState.readyToSend,
      sendPsn,
      ...(isReliable && {
        timeout: attributes.timeout,
        retryCount: attributes.retryCount,
        receiverNotReadyRetry: attributes.receiverNotReadyRetry,
        maxReadAtomic: attributes.maxReadAtomic,
      }),
    });
  }

  /** Back to RESET, or a queue pair anew. */
  restart(random: Random): void {
    if (random.once(2)) this.queuePair.modify({ state: QueuePairState.reset });
    else {
      this.wire.party.disown(this.queuePair);
      this.queuePair.close();
      this.queuePair = this.make();
    }
    this.completions = [];
  }

  /** A packet of the peer comes to the board. */
  inject(packet: Partial<ReferencePacket>): void {
    const whole = {
      ...blank,
      partitionKey: this.peerPartitionKey,
      ...packet,
      queuePair: this.queuePair.number,
    };
    this.wire.party.board.arrive(buildPacket(whole, this.wire.references, this.wire.board));
  }

  /** Lets the board come to rest, without time passing. @returns what it has sent to the peer */
  settle(): Sent[] {
    this.wire.party.board.runUntilIdle();
    this.wire.party.poll();
    return this.taken();
  }

  /** Packets that have been sent to the peer since the last time. @throws Violation a packet is not as this connection sends them */
  taken(): Sent[] {
    const sent = this.wire.take(this.peer);
    for (const { packet } of sent) {
      require(packet.partitionKey === this.attributes.partitionKey, () =>
        `${this.name}: sends with P_Key ${packet.partitionKey.toString(16)}`);
    }
    return sent;
  }

  take(_: QueuePair, { wrId, status, workQueue, byteLength, immediateData }: Completion): void {
    this.completions.push({ wrId, status, workQueue, byteLength, immediateData });
  }

  /** Completions since the last time. */
  completed(): typeof this.completions {
    const { completions } = this;
    this.completions = [];
    return completions;
  }

  get hasCompleted(): boolean {
    return this.completions.length > 0;
  }

  get state(): QueuePairState {
    return this.queuePair.query().state;
  }

  close(): void {
    this.wire.party.disown(this.queuePair);
    this.queuePair.close();
    this.protectionDomain.close();
  }

  private make(): QueuePair {
    const { completionQueue } = this.wire.party;
    const queuePair = this.protectionDomain.createQueuePair({
      type: this.service,
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
      capabilities: { maxSendWorkRequests: 64, maxReceiveWorkRequests: 64 },
    });
    this.wire.party.own(queuePair, this);
    return queuePair;
  }
}
