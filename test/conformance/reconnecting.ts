import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';

import {
  Completion,
  CompletionStatus,
  PathMtu,
  QueuePairState,
  type MemoryRegion,
  type QueuePair,
} from '../../lib/index.ts';
import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { PacketDrop } from '../../lib/spec/index.ts';
import { everyRight } from '../helpers/connected.ts';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';
import { Random } from '../helpers/random.mjs';
import { buildPacket, noPacket, opcodeOf, type Route } from './wire.ts';

const start = 201;
const packets = 3;
const bytes = 16;
/** The number of former connections with late packets. */
const remembered = 3;

/**
 * One queue pair that is connected again and again to the same peer, from the same PSN on; the test is the
 * peer on the wire. Packets of former connections arrive at each PSN that the connection expects, before its
 * own, and carry the number of their connection.
 */
export class Reconnecting {
  readonly verbs: Verbs;
  readonly queuePair: QueuePair;
  private readonly route: Route;
  private readonly inbox: MemoryRegion;
  private readonly target: MemoryRegion;
  private readonly random: Random;
  private readonly former: number[] = [];
  private readonly completions = Array.from({ length: 2 * packets }, () => new Completion());
  private connections = 0;
  private connected = false;
  /** Late packets that arrived. */
  late = 0;

  constructor(seed: number, options: { queuePairs?: number } = {}) {
    const board = { fabric: randomUUID(), queuePairs: 4096, ...options };
    this.random = new Random(seed);
    this.verbs = makeVerbs(undefined, board);
    const silent = makeVerbs(undefined, board); // has the peer's address, and never answers
    const { context, protectionDomain, completionQueue } = this.verbs;
    this.route = {
      sourceMac: silent.context.queryPort(1).mac,
      sourceGid: silent.context.queryGid(1, 0),
      destinationMac: context.queryPort(1).mac,
      destinationGid: context.queryGid(1, 0),
    };
    this.queuePair = protectionDomain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
    });
    this.inbox = protectionDomain.allocate(packets * bytes, everyRight);
    this.target = protectionDomain.allocate(bytes, everyRight);
  }

  /** Packets that the device has dropped because their number is in time-wait. */
  get dropped(): number {
    const { controlPage } = this.verbs.context.driver.device;
    const counters = registerNamed(blockNamed('control'), 'packets_dropped');
    return Number(readNamed(controlPage!, counters).values[PacketDrop.timeWait]);
  }

  /** Connects with the queue pair's current number; late packets arrive before and during the wait for it. */
  connect(): void {
    this.connections++;
    const { queuePair, route } = this;
    queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: everyRight });
    this.bringLate(start);
    queuePair.modify({
      state: QueuePairState.readyToReceive,
      addressVector: { port: 1, isGlobal: true, hopLimit: 64, destinationGid: route.sourceGid },
      pathMtu: PathMtu.mtu256,
      destinationQueuePair: 0x4711,
      receivePsn: start,
      maxDestinationReadAtomic: 16,
      minReceiverNotReadyTimer: 12,
    });
    queuePair.modify({
      state: QueuePairState.readyToSend,
      sendPsn: start,
      timeout: 14,
      retryCount: 7,
      receiverNotReadyRetry: 7,
      maxReadAtomic: 16,
    });
    this.connected = true;
  }

  /** Exchanges the messages of a connection, SENDs and RDMA WRITEs; returns an error, or nothing. */
  talk(): string | undefined {
    const { queuePair, inbox, completions } = this;
    const mark = this.connections % 251;
    inbox.bytes.fill(255);
    const isSend = Array.from({ length: packets }, () => this.random.once(2));
    for (let psn = 0; psn < packets; psn++) {
      if (isSend[psn]) queuePair.postReceive({ scatter: [inbox.slice(psn * bytes, bytes)], wrId: psn });
      this.target.bytes.fill(255);
      this.bringLate(start + psn);
      if (this.verbs.completionQueue.poll(completions) !== 0) return 'a late packet has completed a receive';
      if (this.target.bytes.some((byte) => byte !== 255)) return 'a late packet has written';
      this.bring(queuePair.number, start + psn, isSend[psn]!, mark);
      const taken = this.verbs.completionQueue.poll(completions);
      if (!isSend[psn]) {
        if (taken !== 0 || this.target.bytes.some((byte) => byte !== mark)) return 'an RDMA WRITE is missing';
        continue;
      }
      const [{ status, queuePairNumber, wrId } = new Completion()] = completions;
      if (taken !== 1 || status !== CompletionStatus.success || wrId !== psn) return 'a SEND is missing';
      if (queuePairNumber !== queuePair.number) return `a completion of queue pair ${queuePairNumber}`;
      const place = inbox.bytes.subarray(psn * bytes, (psn + 1) * bytes);
      if (place.some((byte) => byte !== mark)) return `foreign bytes in SEND ${psn}: ${place.join(' ')}`;
    }
    return undefined;
  }

  /** Ends the connection. */
  reset(newNumber: boolean): void {
    const { former, queuePair } = this;
    former.unshift(queuePair.number);
    former.length = Math.min(former.length, remembered);
    queuePair.modify({ state: QueuePairState.reset, newNumber });
    this.connected = false;
  }

  /** A packet of each former connection with this PSN. */
  private bringLate(psn: number): void {
    for (const [age, number] of this.former.entries()) {
      // The number of the current connection no longer belongs to a former one.
      if (this.connected && number === this.queuePair.number) continue;
      this.late++;
      this.bring(number, psn, this.random.once(2), (this.connections - 1 - age) % 251);
    }
  }

  private bring(destinationQueuePair: number, psn: number, isSend: boolean, mark: number): void {
    const { board } = this.verbs;
    const { address, key } = this.target.remote();
    board.arrive(
      buildPacket(this.route, {
        ...noPacket,
        opcode: opcodeOf(isSend ? 'send_only' : 'rdma_write_only', 'RC'),
        destinationQueuePair,
        psn,
        ...(isSend ? {} : { address, key, length: bytes }),
        payload: new Uint8Array(bytes).fill(mark),
      }),
    );
    board.runUntilIdle();
  }
}

/** Reconnects repeatedly, mostly with a new number at once, sometimes with the same number after its time-wait, and checks the results. */
export function expectNoForeignByte(times: number, seed: number): void {
  const subject = new Reconnecting(seed);
  const random = new Random(seed);
  let changed = 0;
  for (let count = 0; count < times; count++) {
    subject.connect();
    const wrong = subject.talk();
    if (wrong !== undefined) expect.fail(`seed ${seed}, connection ${count}: ${wrong}`);
    const before = subject.queuePair.number;
    subject.reset(!random.once(32));
    if (subject.queuePair.number !== before) changed++;
  }
  expect(changed / times).toBeGreaterThan(0.9);
  expect(subject.late / times).toBeGreaterThan(9);
  expect(subject.dropped / subject.late).toBeGreaterThan(0.9); // packets whose number was still in time-wait
  expect(subject.verbs.board.verify(true)).toBeUndefined();
}
