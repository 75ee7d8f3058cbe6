import {
  PathMtu,
  QueuePairState,
  type Completion,
  type ProtectionDomain,
  type QueuePair,
} from '../../lib/index.ts';
import {
  connectQueuePair,
  type ConnectionAttributes,
  type QueuePairAddress,
} from '../../lib/connect/index.ts';
import type { Random } from '../helpers/random.mjs';
import { Flow, type FlowPromises } from './flow.ts';
import { FlowMemory } from './flow_memory.ts';
import { require, type Owner, type Party } from './party.ts';
import type { Pool } from './pool.ts';

/** One end of a connection. */
interface End {
  readonly party: Party;
  readonly protectionDomain: ProtectionDomain;
  /** The shared receive queue; undefined: its own receive queue. */
  readonly pool: Pool | undefined;
  queuePair: QueuePair;
  /** Its flow of messages. */
  readonly flow: Flow;
}

export interface ConnectionOptions extends FlowPromises {
  readonly operations: number;
  /** Its packets may be lost or late. */
  readonly isFaulty: boolean;
  readonly disconnects: boolean;
}

type Connecting = [QueuePairAddress, QueuePairAddress, ConnectionAttributes];

const mostConnects = 6;
const queues = { maxSendWorkRequests: 64, maxReceiveWorkRequests: 64 };

/** Two queue pairs that send to each other, and are disconnected and reconnected. */
export class Connection implements Owner {
  readonly name: string;
  private readonly random: Random;
  private readonly options: ConnectionOptions;
  private readonly ends: readonly [End, End];
  private connects = 0;
  /** Reconnects of its queue pairs, with the same number and with a new one. */
  readonly resets = { kept: 0, renumbered: 0 };
  /** It was used since it was connected. */
  private isDisturbed = false;
  /** It has ended, and will not be reconnected. */
  private isOver = false;

  /** @param pools the shared receive queues of its ends; undefined: receive queues of their own */
  constructor(
    name: string,
    random: Random,
    parties: readonly [Party, Party],
    pools: readonly [Pool | undefined, Pool | undefined],
    options: ConnectionOptions,
  ) {
    this.name = name;
    this.random = random;
    this.options = options;
    const domains = parties.map(({ context }) => context.createProtectionDomain()) as [
      ProtectionDomain,
      ProtectionDomain,
    ];
    const makeEnd = (from: 0 | 1): End => {
      const to = (1 - from) as 0 | 1;
      const { operations } = options;
      const sender = random.below(1000);
      const memory = new FlowMemory(random, sender, operations, domains[from], domains[to]);
      const title = `${name}${from === 0 ? '→' : '←'}`;
      const flow = new Flow(title, random, memory, operations, options, pools[to]);
      const [party, protectionDomain, pool] = [parties[from], domains[from], pools[from]];
      return {
        party,
        protectionDomain,
        pool,
        flow,
        queuePair: this.makeQueuePair(party, protectionDomain, pool),
      };
    };
    this.ends = [makeEnd(0), makeEnd(1)];
    this.connect();
  }

  get isDone(): boolean {
    const { ends, isOver } = this;
    return ends.every(({ flow }) => (isOver || (flow.isPosted && !flow.hasFailed)) && flow.isAtRest);
  }

  get progress(): string {
    const states = this.ends.map(({ queuePair }) => {
      const { state, next, posted, acknowledged, inFlight } = queuePair.query();
      return `queue pair ${queuePair.number} in state ${state}, next ${next}, posted ${posted}, acknowledged ${acknowledged}, in flight ${inFlight}`;
    });
    return [...this.ends.map(({ flow }) => flow.progress), ...states].join('; ');
  }

  /** Whether a queue pair of a board belongs to the connection. */
  has(party: Party, number: number): boolean {
    return this.ends.some((end) => end.party === party && end.queuePair.number === number);
  }

  /** Posts at random, sometimes disconnects, and reconnects failed queue pairs. */
  act(): void {
    const { random, ends } = this;
    if (this.isOver) return;
    if (ends.some(({ flow }) => flow.hasFailed)) {
      if (random.once(3)) this.reconnect();
      return;
    }
    if (this.options.disconnects && random.once(60)) {
      this.disturb();
      return;
    }
    for (const [index, { flow, queuePair }] of ends.entries()) {
      const peer = ends[1 - index]!.queuePair;
      if (this.options.service === 'RC' && !flow.isPosted) flow.changeWindow(peer);
      flow.post(queuePair);
      flow.postReceive(peer);
    }
  }

  take(queuePair: QueuePair, completion: Completion): void {
    const at = this.ends.findIndex((end) => end.queuePair === queuePair);
    require(at >= 0, () => `${this.name}: a completion of a queue pair that it had`);
    const [sent, received] = [this.ends[at]!.flow, this.ends[1 - at]!.flow];
    if (completion.workQueue !== 0) received.takeReceived(completion);
    else if (!received.takeOfWindow(completion, this.isExcused)) sent.takeSent(completion, this.isExcused);
  }

  verify(): void {
    for (const { flow } of this.ends) flow.verify();
  }

  close(): void {
    for (const end of this.ends) {
      this.disown(end);
      end.queuePair.close();
    }
    for (const { flow } of this.ends) flow.close();
    for (const { protectionDomain } of this.ends) protectionDomain.close();
  }

  /** Its queue pairs may fail although their own work requests are valid. */
  private get isExcused(): boolean {
    const { isFaulty, isVictim } = this.options;
    return (
      isFaulty ||
      isVictim ||
      this.isDisturbed ||
      this.ends.some(({ flow }) => flow.hasFailed || flow.hasToFail)
    );
  }

  private disturb(): void {
    const { random } = this;
    this.isDisturbed = true;
    if (random.once(2)) random.pick(this.ends).queuePair.modify({ state: QueuePairState.error });
    else this.reconnect();
  }

  /** Resets both ends, or creates new ones, and connects them; packets of the former connection may still be in flight. */
  private reconnect(): void {
    for (const { party } of this.ends) party.poll();
    if (this.connects === mostConnects) {
      this.isOver = true;
      this.isDisturbed = true;
      for (const { queuePair } of this.ends) queuePair.modify({ state: QueuePairState.error });
      return;
    }
    const newNumber = this.random.once(2);
    for (const end of this.ends) {
      if (this.random.once(3)) {
        this.disown(end);
        end.queuePair.close();
        end.queuePair = this.makeQueuePair(end.party, end.protectionDomain, end.pool);
      } else this.reset(end, newNumber);
    }
    for (const { flow } of this.ends) flow.restart();
    this.connect();
  }

  /**
   * Requires a connection with another number at once, while packets of the former connection are in flight;
   * or with the same number, for which connecting waits: it lets the virtual time of a time-wait pass.
   */
  private reset({ party, queuePair }: End, newNumber: boolean): void {
    if (newNumber) party.disown(queuePair);
    queuePair.modify({ state: QueuePairState.reset, newNumber });
    if (newNumber) party.own(queuePair, this);
    this.resets[newNumber ? 'renumbered' : 'kept']++;
  }

  private disown({ party, queuePair, pool }: End): void {
    party.disown(queuePair, pool === undefined ? undefined : (wrId) => pool.release(wrId));
  }

  private connect(): void {
    const { random } = this;
    this.connects++;
    this.isDisturbed = false;
    const [one, other] = this.ends;
    const addresses = this.ends.map(({ party, queuePair }) => party.addressOf(queuePair, random));
    const attributes = {
      pathMtu: random.pick([PathMtu.mtu256, PathMtu.mtu512, PathMtu.mtu1024]),
      timeout: 1 + random.below(6),
      readAtomics: 1 + random.below(16),
    };
    // Derived from the first PSN, so that plans stay the same: neither end, one, or both.
    const [first, second] = addresses.map(({ packetSequenceNumber }) => ({
      ...attributes,
      endToEndCredits: packetSequenceNumber % 2 === 1,
    }));
    this.connectEnd(one, addresses[0]!, addresses[1]!, first!);
    this.connectEnd(other, addresses[1]!, addresses[0]!, second!);
  }

  /** In RTR it already receives: a forged or late packet can fail it before it reaches RTS. */
  private connectEnd({ queuePair, flow }: End, ...attributes: Readonly<Connecting>): void {
    try {
      connectQueuePair(queuePair, ...attributes);
    } catch (error) {
      if (!this.isExcused || queuePair.query().state !== QueuePairState.error) throw error;
      flow.fail();
    }
  }

  private makeQueuePair(party: Party, protectionDomain: ProtectionDomain, pool: Pool | undefined): QueuePair {
    const { completionQueue } = party;
    const queuePair = protectionDomain.createQueuePair({
      type: this.options.service,
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
      capabilities: queues,
      ...(pool !== undefined && { sharedReceiveQueue: pool.queue }),
    });
    party.own(queuePair, this);
    return queuePair;
  }
}
