import { SocketAddress } from 'node:net';
import { createHistogram } from 'node:perf_hooks';

import {
  addressOf,
  addressVectorTo,
  connectQueuePair,
  openQueuePair,
  type QueuePairAddress,
} from '../connect/index.ts';
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
  type QueuePairType,
  type SendRequest,
} from '../index.ts';
import { completionAtAny } from './completion_at_any.ts';
import { Idle } from './idle.ts';
import type { Output } from './output/output.ts';
import { pathMtus } from './path_mtus.ts';
import type { MeetingPlace } from './meeting.ts';
import { checkMessage, fillMemory } from './pingpong_message.ts';
import { markable, meetPeer } from './pingpong_peer.ts';
import type { Scope } from './scope.ts';
import { openTwoBoards } from './two_boards.ts';

/** Options of `hca pingpong`: those of ibv_rc_pingpong, ibv_uc_pingpong and ibv_ud_pingpong that apply. */
export interface PingpongOptions {
  readonly type: QueuePairType;
  /** Bytes of a message. */
  readonly size: number;
  /** Path MTU in bytes, of {@link pathMtus}; not of UD. */
  readonly mtu: number;
  /** Receives posted in advance. */
  readonly rxDepth: number;
  /** Exchanges. */
  readonly iters: number;
  readonly port: number;
  readonly serviceLevel: number;
  readonly gidIndex: number;
  /** Sleep until a completion event, instead of polling. */
  readonly events: boolean;
  /** Compare the received data byte for byte at the end. */
  readonly check: boolean;
  /** Seconds without a message after which the run fails. */
  readonly timeout: number;
  /** Where to meet the other end, in another process; undefined: it is in this one. */
  readonly peer?: MeetingPlace;
  readonly signal: AbortSignal;
}

/** The result. */
export interface PingpongResult {
  readonly bytes: number;
  readonly iterations: number;
  readonly seconds: number;
  readonly megabitsPerSecond: number;
  readonly microsecondsPerIteration: number;
  /** Median of a round trip, as the local end sees it; within 0.1 %. */
  readonly medianMicroseconds: number;
}

const turnsBetweenClocks = 256;
/** Milliseconds that a signal may wait for the event loop. */
const breath = 50;
const completionsAtOnce = 16;
const sendWrId = 1;
const receiveWrId = 2;
const queueKey = 0x1111_1111;
/** Bytes before the data of a datagram. */
const routeBytes = 40;

/**
 * `hca pingpong`: two queue pairs send each other messages in turn, as ibv_rc_pingpong, ibv_uc_pingpong and ibv_ud_pingpong do: on two emulated boards that are
 * connected, or, on any other device, through the loopback of its port; or one end, with a peer in another process. JSON: {local, remote, …PingpongResult}.
 */
export async function pingpong(
  output: Output,
  deviceString: string,
  options: PingpongOptions,
  scope: Scope,
): Promise<void> {
  const { peer, type, size, mtu, iters } = options;
  if (peer !== undefined) {
    const settings = {
      measured: `ping-pong of ${type}`,
      '--size': size,
      '--iters': iters,
      ...(type !== 'UD' && { '--mtu': mtu }),
    };
    const place = { place: peer, deviceString, settings, port: options.port, told: 1 };
    const {
      end,
      remotes,
      play: playOut,
    } = await meetPeer(place, scope, (device) => {
      const made = new End(scope.use(openDevice(device)), options);
      output.text(localText(made.address, type));
      return made;
    });
    const remote = remotes[0]!;
    output.text(remoteText(remote));
    const result = await playOut((signal) =>
      play([end], peer.host !== undefined, { ...options, isReliable: type === 'RC', signal }),
    );
    if (options.check) end.check();
    report(output, { local: end.address, remote, result });
    return;
  }
  const ended = await exchange(openTwoBoards(deviceString, scope), options, (ends) => {
    output.text(localText(ends.local, type));
    output.text(remoteText(ends.remote));
  });
  report(output, ended);
}

/** @param local, remote in JSON: addresses */
export function report(
  output: Output,
  { local, remote, result }: { local: unknown; remote: unknown; result: PingpongResult },
): void {
  const { bytes, iterations, seconds } = result;
  output.text(
    `${bytes} bytes in ${seconds.toFixed(2)} seconds = ${result.megabitsPerSecond.toFixed(2)} Mbit/sec\n` +
      `${iterations} iters in ${seconds.toFixed(2)} seconds = ${result.microsecondsPerIteration.toFixed(2)} usec/iter\n`,
  );
  output.value({ local, remote, ...result });
}

interface Addresses {
  readonly local: QueuePairAddress;
  readonly remote: QueuePairAddress;
}

/** One side of a ping-pong. */
export interface Player {
  readonly completionQueue: CompletionQueue;
  /** Messages. */
  readonly received: number;
  readonly isDone: boolean;
  /** Begins. */
  send(): void;
  /** Polls completions and answers messages. Returns whether there were any. */
  advance(): boolean;
}

/** Runs a ping-pong between two open devices. @param connected called with the addresses before it begins */
export async function exchange(
  contexts: readonly [Context, Context],
  options: PingpongOptions,
  connected: (addresses: Addresses) => void = () => {},
): Promise<Addresses & { readonly result: PingpongResult }> {
  const [local, remote] = contexts.map((context) => new End(context, options)) as [End, End];
  local.connect(remote.addresses);
  remote.connect(local.addresses);
  const addresses = { local: local.address, remote: remote.address };
  connected(addresses);
  const result = await play([local, remote], true, { ...options, isReliable: options.type === 'RC' });
  if (options.check) for (const end of [local, remote]) end.check();
  for (const end of [local, remote]) end.close();
  return { ...addresses, result };
}

/** One queue pair. */
class End implements Player {
  readonly context: Context;
  readonly address: QueuePairAddress;
  readonly completionQueue: CompletionQueue;
  sent = 0;
  received = 0;
  private readonly options: PingpongOptions;
  private readonly protectionDomain: ProtectionDomain;
  private readonly queuePair: QueuePair;
  private readonly memory: MemoryRegion;
  /** Offset of a received message in the memory. */
  private readonly receivedAt: number;
  private readonly receive;
  private request: SendRequest;
  private posted = 0; // unused receives
  private sending = false;
  private due = false; // an answer is due
  private readonly completions = Array.from({ length: completionsAtOnce }, () => new Completion());

  constructor(context: Context, options: PingpongOptions) {
    const { type, size, rxDepth, port, gidIndex } = options;
    const room = type === 'UD' ? routeBytes : 0;
    this.options = options;
    this.context = context;
    this.protectionDomain = context.createProtectionDomain();
    this.completionQueue = context.createCompletionQueue({ entries: rxDepth + 1 });
    this.queuePair = this.protectionDomain.createQueuePair({
      type,
      sendCompletionQueue: this.completionQueue,
      receiveCompletionQueue: this.completionQueue,
      capabilities: { maxSendWorkRequests: 1, maxReceiveWorkRequests: rxDepth, maxInlineData: 0 },
    });
    this.memory = this.protectionDomain.allocate(Math.max(1, 2 * size + room));
    fillMemory(this.memory.bytes, size, options.check);
    this.request = {
      opcode: Opcode.send,
      wrId: sendWrId,
      signaled: true,
      gather: [this.memory.slice(0, size)],
    };
    this.receive = { wrId: receiveWrId, scatter: [this.memory.slice(size, size + room)] };
    this.receivedAt = size + room;
    this.address = markable(addressOf(context, this.queuePair, { port, gidIndex }));
  }

  get addresses(): readonly QueuePairAddress[] {
    return [this.address];
  }

  connect([remote]: readonly (QueuePairAddress | undefined)[]): void {
    if (remote === undefined) throw new Error('the other end sent no address');
    const { type, port, gidIndex, mtu, serviceLevel, rxDepth } = this.options;
    const place = { port, gidIndex, serviceLevel };
    if (type === 'UD') {
      openQueuePair(this.queuePair, this.address, queueKey, place);
      this.request = {
        ...this.request,
        addressHandle: this.protectionDomain.createAddressHandle(addressVectorTo(remote, place)),
        destinationQueuePair: remote.queuePairNumber,
        queueKey,
      };
    } else {
      connectQueuePair(this.queuePair, this.address, remote, { ...place, pathMtu: pathMtus[mtu]! });
    }
    this.postReceives(rxDepth);
  }

  get isDone(): boolean {
    return this.sent >= this.options.iters && this.received >= this.options.iters;
  }

  /** Sends as soon as the preceding message is complete. */
  send(): void {
    this.due = this.sending;
    if (this.sending) return;
    this.sending = true;
    this.queuePair.postSend(this.request);
  }

  /** Polls completions and answers messages. @returns whether there were any */
  advance(): boolean {
    const count = this.completionQueue.poll(this.completions);
    for (let index = 0; index < count; index++) this.take(this.completions[index]!);
    return count > 0;
  }

  /** @throws Error a byte differs from what the peer sent */
  check(): void {
    checkMessage(this.memory.bytes.subarray(this.receivedAt, this.receivedAt + this.options.size));
  }

  close(): void {
    this.protectionDomain[Symbol.dispose]();
    this.completionQueue[Symbol.dispose]();
  }

  private take(completion: Completion): void {
    if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
    if (completion.wrId === sendWrId) {
      this.sent += 1;
      this.sending = false;
      if (this.due) this.send();
      return;
    }
    this.received += 1;
    this.posted -= 1;
    if (this.posted <= 1) this.postReceives(this.options.rxDepth - this.posted);
    if (this.sent + Number(this.sending) < this.options.iters) this.send();
  }

  private postReceives(count: number): void {
    for (let each = 0; each < count; each++) this.queuePair.postReceive(this.receive);
    this.posted += count;
  }
}

/** Parameters of a ping-pong. */
export interface PlayOptions extends Pick<
  PingpongOptions,
  'size' | 'iters' | 'events' | 'timeout' | 'signal'
> {
  /** The service retransmits lost packets. */
  readonly isReliable: boolean;
}

/**
 * @param ends of this process, the measured one first @param begins whether that one sends first
 * @throws Error no message for too long
 */
export async function play(
  ends: readonly [Player, ...Player[]],
  begins: boolean,
  options: PlayOptions,
): Promise<PingpongResult> {
  const [local] = ends;
  const { size, iters, events, timeout, signal } = options;
  const roundTrips = createHistogram(); // nanoseconds
  const begin = performance.now();
  let [last, rested] = [begin, begin];
  const idle = new Idle();
  if (begins) local.send();
  for (let turn = 1; !ends.every((end) => end.isDone); turn++) {
    const received = local.received;
    const worked = ends.map((end) => end.advance()).includes(true);
    if (local.received > received) {
      const now = performance.now();
      roundTrips.record(Math.max(1, Math.round((now - last) * 1e6)));
      last = now;
    }
    if (events && !worked) await someCompletion(ends, options);
    const isIdle = !events && idle.turn(worked);
    if (isIdle) await idle.sleep(signal);
    else if (turn % turnsBetweenClocks !== 0) continue;
    const now = performance.now();
    if (now - rested < breath) continue;
    rested = now;
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    if (now - last > timeout * 1000) throw nothingCame(ends, options);
  }
  const seconds = (performance.now() - begin) / 1000;
  const bytes = 2 * size * iters;
  return {
    bytes,
    iterations: iters,
    seconds,
    megabitsPerSecond: (bytes * 8) / seconds / 1e6,
    microsecondsPerIteration: (seconds * 1e6) / iters,
    medianMicroseconds: roundTrips.percentile(50) / 1000,
  };
}

async function someCompletion(ends: readonly [Player, ...Player[]], options: PlayOptions): Promise<void> {
  const { timeout, signal } = options;
  const queues = ends.map((end) => end.completionQueue);
  try {
    await completionAtAny(queues, { signal, timeout: timeout * 1000 });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') throw nothingCame(ends, options);
    throw error;
  }
}

function nothingCame(
  [{ received }]: readonly [Player, ...Player[]],
  { timeout, isReliable }: PlayOptions,
): Error {
  const why = isReliable ? 'the other end has stopped' : 'an unreliable service does not repeat what is lost';
  return new Error(
    `nothing arrived for ${timeout} s after ${received} messages; ${why}, and --timeout sets how long to wait`,
  );
}

/** ibv_ud_pingpong separates the GID of its own address with a colon, and only there. */
export function localText(address: QueuePairAddress, type: QueuePairType): string {
  return `  local address:  ${addressText(address, type === 'UD' ? ':' : ',')}\n`;
}

export function remoteText(address: QueuePairAddress): string {
  return `  remote address: ${addressText(address, ',')}\n`;
}

function addressText(
  { localIdentifier = 0, queuePairNumber, packetSequenceNumber, gid }: QueuePairAddress,
  beforeGid: string,
): string {
  const hex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, '0')}`;
  const { address } = new SocketAddress({ address: gid.match(/.{4}/g)!.join(':'), family: 'ipv6' });
  return `LID ${hex(localIdentifier, 4)}, QPN ${hex(queuePairNumber, 6)}, PSN ${hex(packetSequenceNumber, 6)}${beforeGid} GID ${address}`;
}
