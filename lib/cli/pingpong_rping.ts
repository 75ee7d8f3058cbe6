import { addressOf, connectQueuePair, type QueuePairAddress } from '../connect/index.ts';
import {
  Access,
  Completion,
  CompletionError,
  CompletionStatus,
  Opcode,
  RemoteMemory,
  openDevice,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  type QueuePair,
  type SendRequest,
} from '../index.ts';
import type { Output } from './output/output.ts';
import { pathMtus } from './path_mtus.ts';
import { localText, play, remoteText, report, type PingpongOptions, type Player } from './pingpong.ts';
import { markable, meetPeer } from './pingpong_peer.ts';
import type { Scope } from './scope.ts';
import { openTwoBoards } from './two_boards.ts';

// The pattern of rping (librdmacm). In each exchange the client sends the address of its data, the server READs the data and confirms, the
// client sends the address of its buffer, and the server WRITEs the data there and confirms.

type RpingOptions = Omit<PingpongOptions, 'type' | 'events'>;
type Role = 'client' | 'server';

/** Bytes of an advertisement: address, R_Key and length, big-endian as in rping; all zero: continue. */
const advertisementBytes = 16;
const everyRight = Access.localWrite | Access.remoteWrite | Access.remoteRead;
const workRequests = 4;
const completionsAtOnce = 4;
const wrIds = { send: 1, receive: 2, read: 3, write: 4 } as const;

/**
 * `hca pingpong rping`: SENDs that advertise memory, RDMA READs and WRITEs in turn, as rping does. JSON: {local, remote,
 * …PingpongResult}; bytes are those read and written.
 */
export async function pingpongRping(
  output: Output,
  deviceString: string,
  options: RpingOptions,
  scope: Scope,
): Promise<void> {
  const { peer, size, iters, mtu, port } = options;
  const playing = { ...options, events: false, isReliable: true };
  if (peer === undefined) {
    const [clientContext, serverContext] = openTwoBoards(deviceString, scope);
    const client = new RpingEnd(clientContext, 'client', options);
    const server = new RpingEnd(serverContext, 'server', options);
    client.connect(server.addresses);
    server.connect(client.addresses);
    output.text(localText(client.address, 'RC'));
    output.text(remoteText(server.address));
    const result = await play([client, server], true, playing);
    report(output, { local: client.address, remote: server.address, result });
    return;
  }
  const settings = { measured: 'ping-pong of rping', '--size': size, '--iters': iters, '--mtu': mtu };
  const role = peer.host === undefined ? 'server' : 'client';
  const place = { place: peer, deviceString, settings, port, told: 1 };
  const met = await meetPeer(place, scope, (device) => {
    const made = new RpingEnd(scope.use(openDevice(device)), role, options);
    output.text(localText(made.address, 'RC'));
    return made;
  });
  const remote = met.remotes[0]!;
  output.text(remoteText(remote));
  const result = await met.play((signal) => play([met.end], role === 'client', { ...playing, signal }));
  report(output, { local: met.end.address, remote, result });
}

/** One side. */
class RpingEnd implements Player {
  readonly context: Context;
  readonly address: QueuePairAddress;
  readonly completionQueue: CompletionQueue;
  /** Completed exchanges. */
  received = 0;
  private readonly role: Role;
  private readonly options: RpingOptions;
  private readonly protectionDomain: ProtectionDomain;
  private readonly queuePair: QueuePair;
  /** Memory: source, sink, sent advertisement, received advertisement. */
  private readonly memory: MemoryRegion;
  private readonly view: DataView;
  private readonly sent: number; // offset of the sent advertisement
  private readonly message: SendRequest;
  private isReading = true; // the next advertisement names the source
  private unfinished = 0; // outstanding sends
  private readonly completions = Array.from({ length: completionsAtOnce }, () => new Completion());

  constructor(context: Context, role: Role, options: RpingOptions) {
    const { size, port, gidIndex } = options;
    this.role = role;
    this.options = options;
    this.context = context;
    this.protectionDomain = context.createProtectionDomain();
    this.completionQueue = context.createCompletionQueue({ entries: 2 * workRequests });
    this.queuePair = this.protectionDomain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: this.completionQueue,
      receiveCompletionQueue: this.completionQueue,
      capabilities: { maxSendWorkRequests: workRequests, maxReceiveWorkRequests: workRequests },
    });
    this.memory = this.protectionDomain.allocate(2 * size + 2 * advertisementBytes, everyRight);
    const { buffer, byteOffset, byteLength } = this.memory.bytes;
    this.view = new DataView(buffer, byteOffset, byteLength);
    this.sent = 2 * size;
    this.message = {
      opcode: Opcode.send,
      wrId: wrIds.send,
      signaled: true,
      gather: [this.memory.slice(this.sent, advertisementBytes)],
    };
    this.address = markable(addressOf(context, this.queuePair, { port, gidIndex }));
  }

  get addresses(): readonly QueuePairAddress[] {
    return [this.address];
  }

  connect([remote]: readonly (QueuePairAddress | undefined)[]): void {
    if (remote === undefined) throw new Error('the other end sent no address');
    const { port, gidIndex, mtu, serviceLevel } = this.options;
    const place = { port, gidIndex, serviceLevel };
    connectQueuePair(this.queuePair, this.address, remote, { ...place, pathMtu: pathMtus[mtu]! });
    this.postReceive();
  }

  get isDone(): boolean {
    return this.received >= this.options.iters && this.unfinished === 0;
  }

  /** The client begins an exchange. */
  send(): void {
    const { size, check } = this.options;
    if (check) fillSource(this.memory.bytes.subarray(0, size), this.received);
    this.advertise(0);
  }

  advance(): boolean {
    const count = this.completionQueue.poll(this.completions);
    for (let index = 0; index < count; index++) this.take(this.completions[index]!);
    return count > 0;
  }

  private take(completion: Completion): void {
    if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
    if (completion.wrId === wrIds.receive) {
      const advertised = this.readAdvertisement();
      this.postReceive();
      if (this.role === 'client') this.goOn();
      else this.move(advertised);
      return;
    }
    this.unfinished -= 1;
    if (completion.wrId === wrIds.send) return;
    this.tell(0n, 0, 0); // confirms the READ or WRITE
    if (completion.wrId === wrIds.write) this.received += 1;
  }

  /** The client receives the confirmation of a READ or WRITE. */
  private goOn(): void {
    const { size, iters, check } = this.options;
    this.isReading = !this.isReading;
    if (!this.isReading) {
      this.advertise(size);
      return;
    }
    if (check) compare(this.memory.bytes.subarray(0, size), this.memory.bytes.subarray(size, 2 * size));
    this.received += 1;
    if (this.received < iters) this.send();
  }

  /** The server READs the advertised data, or WRITEs to the advertised buffer. */
  private move(remote: RemoteMemory): void {
    const opcode = this.isReading ? Opcode.rdmaRead : Opcode.rdmaWrite;
    const wrId = this.isReading ? wrIds.read : wrIds.write;
    this.isReading = !this.isReading;
    this.post({
      opcode,
      wrId,
      signaled: true,
      gather: [this.memory.slice(0, this.options.size)],
      remote: remote.slice(0),
    });
  }

  private advertise(at: number): void {
    this.tell(this.memory.address + BigInt(at), this.memory.remoteKey, this.options.size);
  }

  private tell(address: bigint, key: number, length: number): void {
    this.view.setBigUint64(this.sent, address);
    this.view.setUint32(this.sent + 8, key);
    this.view.setUint32(this.sent + 12, length);
    this.post(this.message);
  }

  private readAdvertisement(): RemoteMemory {
    const at = this.sent + advertisementBytes;
    return new RemoteMemory({
      address: this.view.getBigUint64(at),
      key: this.view.getUint32(at + 8),
      length: this.view.getUint32(at + 12),
    });
  }

  private post(request: SendRequest): void {
    this.unfinished += 1;
    this.queuePair.postSend(request);
  }

  private postReceive(): void {
    const at = this.sent + advertisementBytes;
    this.queuePair.postReceive({ wrId: wrIds.receive, scatter: [this.memory.slice(at, advertisementBytes)] });
  }
}

/** Fills the source with the text of rping, which differs in each exchange. */
function fillSource(source: Uint8Array, exchange: number): void {
  const first = 'A'.charCodeAt(0);
  const letters = 'z'.charCodeAt(0) - first + 1;
  for (let at = 0; at < source.length; at++) source[at] = first + ((exchange + at) % letters);
}

/** @throws Error a byte differs from the source */
function compare(source: Uint8Array, sink: Uint8Array): void {
  const wrong = sink.findIndex((byte, at) => byte !== source[at]);
  if (wrong >= 0) throw new Error(`invalid data: byte ${wrong} is ${sink[wrong]}, not ${source[wrong]}`);
}
