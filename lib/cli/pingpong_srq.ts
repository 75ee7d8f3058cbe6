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
import type { Output } from './output/output.ts';
import { pathMtus } from './path_mtus.ts';
import { localText, play, remoteText, report, type Player, type PingpongOptions } from './pingpong.ts';
import { checkMessage, fillMemory } from './pingpong_message.ts';
import { markable, meetPeer } from './pingpong_peer.ts';
import type { Scope } from './scope.ts';
import { openTwoBoards } from './two_boards.ts';

/** Options of `hca pingpong srq`: those of ibv_srq_pingpong. `iters` counts the exchanges of all queue pairs. */
export interface SharedPingpongOptions extends Omit<PingpongOptions, 'type'> {
  /** Queue pairs of each side, 1 to {@link mostQueuePairs}. */
  readonly queuePairs: number;
}

/** Number of addresses that ibv_srq_pingpong always sends. */
export const mostQueuePairs = 256;
const completionsAtOnce = 16;

/**
 * `hca pingpong srq`: pairs of queue pairs send each other messages in turn; the queue pairs of a side share a receive queue, as in
 * ibv_srq_pingpong. JSON: {local: […], remote: […], …PingpongResult}.
 */
export async function pingpongShared(
  output: Output,
  deviceString: string,
  options: SharedPingpongOptions,
  scope: Scope,
): Promise<void> {
  const { peer } = options;
  const reliable = { ...options, isReliable: true };
  if (peer !== undefined) {
    const { size, iters, mtu, queuePairs, port } = options;
    const settings = {
      measured: 'ping-pong of srq',
      '--size': size,
      '--iters': iters,
      '--mtu': mtu,
      '--num-qp': queuePairs,
    };
    const place = { place: peer, deviceString, settings, port, told: mostQueuePairs };
    const {
      end,
      remotes,
      play: playOut,
    } = await meetPeer(place, scope, (device) => {
      const made = new SharedEnd(scope.use(openDevice(device)), options);
      for (const address of made.addresses) output.text(localText(address, 'RC'));
      return made;
    });
    const remote = remotes.slice(0, end.addresses.length);
    for (const address of remote) output.text(remoteText(address));
    const result = await playOut((signal) => play([end], peer.host !== undefined, { ...reliable, signal }));
    if (options.check) end.check();
    report(output, { local: end.addresses, remote, result });
    return;
  }
  const ends = openTwoBoards(deviceString, scope).map((context) => new SharedEnd(context, options));
  const [first, second] = ends as [SharedEnd, SharedEnd];
  const [local, remote] = [first.addresses, second.addresses];
  for (const address of local) output.text(localText(address, 'RC'));
  first.connect(remote);
  second.connect(local);
  for (const address of remote) output.text(remoteText(address));
  const result = await play([first, second], true, reliable);
  if (options.check) for (const end of ends) end.check();
  report(output, { local, remote, result });
}

/** Events that a queue pair waits for before it sends again. */
interface Pending {
  readonly queuePair: QueuePair;
  sent: boolean;
  received: boolean;
}

/** One side. */
class SharedEnd implements Player {
  readonly context: Context;
  readonly addresses: readonly QueuePairAddress[];
  readonly completionQueue: CompletionQueue;
  received = 0;
  private sent = 0;
  private readonly options: SharedPingpongOptions;
  private readonly protectionDomain: ProtectionDomain;
  private readonly queue: SharedReceiveQueue;
  private readonly memory: MemoryRegion;
  private readonly request: SendRequest;
  private readonly receive;
  /** Index by queue pair number. */
  private readonly pending = new Map<number, Pending>();
  private posted = 0; // unused receives
  private readonly completions = Array.from({ length: completionsAtOnce }, () => new Completion());

  constructor(context: Context, options: SharedPingpongOptions) {
    const { size, rxDepth, queuePairs, port, gidIndex } = options;
    this.options = options;
    this.context = context;
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
      markable(addressOf(context, queuePair, { port, gidIndex })),
    );
    this.postReceives(rxDepth);
  }

  connect(remotes: readonly QueuePairAddress[]): void {
    if (remotes.length < this.addresses.length) throw new Error('the other end sent too few addresses');
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
