import { addressOf, connectQueuePair, type QueuePairAddress } from '../connect/index.ts';
import {
  Completion,
  CompletionError,
  CompletionStatus,
  Opcode,
  openDevice,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  type QueuePair,
  type SendRequest,
  type SharedReceiveQueue,
} from '../index.ts';
import { untilActive } from './active_port.ts';
import type { Output } from './output/output.ts';
import { pathMtus } from './path_mtus.ts';
import { localText, play, remoteText, report, type Player, type PingpongOptions } from './pingpong.ts';
import { checkMessage, fillMemory } from './pingpong_message.ts';
import { meetPeers } from './pingpong_peer.ts';
import { openTwoBoards } from './two_boards.ts';

/** Options of `hca pingpong srq`: those of ibv_srq_pingpong. `iters` counts the exchanges of all queue pairs. */
export interface SharedPingpongOptions extends Omit<PingpongOptions, 'type'> {
  /** On each side, 1 to {@link mostQueuePairs}. */
  readonly queuePairs: number;
}

/** ibv_srq_pingpong always tells the addresses of so many. */
export const mostQueuePairs = 256;
const completionsAtOnce = 16;
const nobody: QueuePairAddress = {
  queuePairNumber: 0,
  packetSequenceNumber: 0,
  gid: '0'.repeat(32),
};

/**
 * `hca pingpong srq`: pairs of queue pairs send each other messages in turn, those of a side with one shared receive queue, as
 * ibv_srq_pingpong does. JSON: {local: […], remote: […], …PingpongResult}.
 */
export async function pingpongShared(
  output: Output,
  deviceString: string,
  options: SharedPingpongOptions,
): Promise<void> {
  const { peer, signal } = options;
  const contexts = peer === undefined ? openTwoBoards(deviceString) : [openDevice(deviceString)];
  try {
    const ends = contexts.map((context) => new SharedEnd(context, options));
    const [first, second] = ends as [SharedEnd, SharedEnd?];
    const local = first.addresses;
    for (const address of local) output.text(localText(address, 'RC'));
    let part = async (): Promise<void> => {};
    let remote = second?.addresses ?? [];
    if (second !== undefined) {
      first.connect(remote);
      second.connect(local);
    } else {
      const all = Array.from({ length: mostQueuePairs }, (_, index) => local[index] ?? nobody);
      const met = await meetPeers({ ...peer!, signal }, all, (remotes) => first.connect(remotes));
      remote = met.remotes.slice(0, local.length);
      part = met.part;
      await untilActive(contexts[0]!, options.port, signal);
    }
    for (const address of remote) output.text(remoteText(address));
    const result = await play(
      [first, ...ends.slice(1)],
      peer === undefined || peer.host !== undefined,
      options,
    );
    if (options.check) for (const end of ends) end.check();
    await part();
    report(output, { local, remote, result });
  } finally {
    for (const context of new Set(contexts)) context[Symbol.dispose]();
  }
}

/** What a queue pair waits for before it sends again. */
interface Pending {
  readonly queuePair: QueuePair;
  sent: boolean;
  received: boolean;
}

/** One side. */
class SharedEnd implements Player {
  readonly addresses: readonly QueuePairAddress[];
  readonly completionQueue: CompletionQueue;
  readonly type = 'RC';
  received = 0;
  private sent = 0;
  private readonly options: SharedPingpongOptions;
  private readonly protectionDomain: ProtectionDomain;
  private readonly queue: SharedReceiveQueue;
  private readonly memory: MemoryRegion;
  private readonly request: SendRequest;
  private readonly receive;
  /** By number of the queue pair. */
  private readonly pending = new Map<number, Pending>();
  private posted = 0; // receives that are not taken yet
  private readonly completions = Array.from({ length: completionsAtOnce }, () => new Completion());

  constructor(context: Context, options: SharedPingpongOptions) {
    const { size, rxDepth, queuePairs, port, gidIndex } = options;
    this.options = options;
    this.protectionDomain = context.createProtectionDomain();
    this.completionQueue = context.createCompletionQueue({ entries: rxDepth + queuePairs });
    this.queue = this.protectionDomain.createSharedReceiveQueue({
      maxWorkRequests: rxDepth,
      maxScatterEntries: 1,
    });
    this.memory = this.protectionDomain.allocate(2 * size);
    fillMemory(this.memory.bytes, size, options.check);
    this.request = { opcode: Opcode.send, signaled: true, gather: [this.memory.slice(0, size)] };
    this.receive = { scatter: [this.memory.slice(size, size)] };
    for (let index = 0; index < queuePairs; index++) {
      const queuePair = this.protectionDomain.createQueuePair({
        type: 'RC',
        sendCompletionQueue: this.completionQueue,
        receiveCompletionQueue: this.completionQueue,
        sharedReceiveQueue: this.queue,
        capabilities: { maxSendWorkRequests: 1, maxInlineData: 0 },
      });
      this.pending.set(queuePair.number, { queuePair, sent: true, received: false });
    }
    this.addresses = [...this.pending.values()].map(({ queuePair }) =>
      addressOf(context, queuePair, { port, gidIndex }),
    );
    this.postReceives(rxDepth);
  }

  connect(remotes: readonly QueuePairAddress[]): void {
    const { port, gidIndex, mtu, serviceLevel } = this.options;
    const place = { port, gidIndex, serviceLevel, pathMtu: pathMtus[mtu]! };
    [...this.pending.values()].forEach(({ queuePair }, index) =>
      connectQueuePair(queuePair, this.addresses[index]!, remotes[index]!, place),
    );
  }

  get isDone(): boolean {
    return this.sent >= this.options.iters && this.received >= this.options.iters;
  }

  send(): void {
    for (const each of this.pending.values()) this.sendBy(each);
  }

  advance(): boolean {
    const count = this.completionQueue.poll(this.completions);
    for (let index = 0; index < count; index++) this.take(this.completions[index]!);
    return count > 0;
  }

  /** @throws Error a byte differs from what the peer sent */
  check(): void {
    checkMessage(this.memory.bytes.subarray(this.options.size));
  }

  private take(completion: Completion): void {
    if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
    const its = this.pending.get(completion.queuePairNumber)!;
    if (completion.workQueue === 0) {
      this.sent += 1;
      its.sent = true;
    } else {
      this.received += 1;
      this.posted -= 1;
      its.received = true;
      const { rxDepth, queuePairs } = this.options;
      if (this.posted <= queuePairs) this.postReceives(rxDepth - this.posted);
    }
    if (its.sent && its.received && this.sent < this.options.iters) this.sendBy(its);
  }

  private sendBy(its: Pending): void {
    its.sent = false;
    its.received = false;
    its.queuePair.postSend(this.request);
  }

  private postReceives(count: number): void {
    this.queue.postReceive(Array.from({ length: count }, () => this.receive));
    this.posted += count;
  }
}
