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

/** A packet that has left the board, and its time in clock ticks. */
export interface Sent {
  readonly packet: ReferencePacket;
  readonly time: bigint;
}

/** Attributes that connect the queue pair of a line. */
export interface LineAttributes {
  readonly pathMtu: PathMtu;
  readonly accessFlags: number;
  /** The P_Key in the port's table. */
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

/** The first queue pair number of the references; the number of the line is added to it. */
const firstQueuePair = 0x12_3400;
const partitionKeyIndex = 1;

/** Sorts the packets that leave a board by destination queue pair. */
export class Wire {
  readonly party: Party;
  /** Addresses of the board and of the references. */
  readonly board: Place;
  readonly references: Place;
  private readonly sent = new Map<number, Sent[]>();

  /** @param sink a board of the same fabric, whose address the references use; it drops their packets */
  constructor(party: Party, sink: EmulatedBoard) {
    this.party = party;
    const { mac } = party.context.queryPort(1);
    this.board = placeOf(mac);
    // The boards of a fabric differ in the last byte of their address.
    this.references = placeOf(mac.with(5, mac[5]! - party.board.boardNumber + sink.boardNumber));
    party.board.startPacketTrace(4096);
  }

  /** Takes the packets to a queue pair since the last call. */
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

/** A queue pair whose peer is a reference, which injects packets and reads those that the board sends. */
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

  /** The P_Key of the peer, a full member, because two limited members may not communicate (10.9.3). */
  get peerPartitionKey(): number {
    return this.attributes.partitionKey | 0x8000;
  }

  /** Takes the queue pair from RESET to RTS. */
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

  /** Resets the queue pair, or replaces it with a new one. */
  restart(random: Random): void {
    if (random.once(2)) this.queuePair.modify({ state: QueuePairState.reset });
    else {
      this.wire.party.disown(this.queuePair);
      this.queuePair.close();
      this.queuePair = this.make();
    }
    this.completions = [];
  }

  /** Delivers a packet of the peer to the board. */
  inject(packet: Partial<ReferencePacket>): void {
    const whole = {
      ...blank,
      partitionKey: this.peerPartitionKey,
      ...packet,
      queuePair: this.queuePair.number,
    };
    this.wire.party.board.arrive(buildPacket(whole, this.wire.references, this.wire.board));
  }

  /** Runs the board until it is idle, without advancing time. @returns the packets that it sent to the peer */
  settle(): Sent[] {
    this.wire.party.board.runUntilIdle();
    this.wire.party.poll();
    return this.taken();
  }

  /** Takes the packets to the peer since the last call. @throws Violation a packet has another P_Key */
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

  /** Takes the completions since the last call. */
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
