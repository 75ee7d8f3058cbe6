import {
  addressOf,
  addressVectorTo,
  connectQueuePair,
  openQueuePair,
  type QueuePairAddress,
} from '../../connect/index.ts';
import {
  Access,
  Completion,
  CompletionError,
  CompletionStatus,
  RemoteMemory,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  type QueuePair,
  type QueuePairType,
  type ReceiveRequest,
  type SendRequest,
} from '../../index.ts';
import { pathMtus } from '../path_mtus.ts';
import { atomicBytes, opcodeOf, type AtomicType, type Operation } from './operation.ts';

/** Parameters of both ends of a measurement. */
export interface EndOptions {
  readonly operation: Operation;
  readonly atomicType: AtomicType;
  /** Transport service. */
  readonly type: QueuePairType;
  readonly queuePairs: number;
  /** Largest message, bytes. */
  readonly bytes: number;
  /** Messages up to this size are sent inline. */
  readonly inlineBytes: number;
  /** Capacity of a queue pair's send queue, and of its receive queue. */
  readonly txDepth: number;
  readonly rxDepth: number;
  /** SENDs go as the peer posts receives. */
  readonly endToEndCredits?: boolean;
  /** RDMA READs and atomics outstanding. */
  readonly readAtomics: number;
  /** Path MTU in bytes. */
  readonly mtu: number;
  readonly port: number;
  readonly gidIndex: number;
  readonly serviceLevel: number;
  /** Local ACK timeout, 4.096 µs × 2^timeout. */
  readonly timeout: number;
}

/** Address of an end as plain JSON. */
export interface EndAddress {
  readonly queuePairs: readonly QueuePairAddress[];
  /** The memory that the peer writes and reads: consecutive areas, one for each queue pair. */
  readonly memory: { readonly address: string; readonly key: number; readonly length: number };
}

const everyRight = Access.localWrite | Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;
const completionsAtOnce = 16;
const cacheLine = 64;
/** Bytes before the data of a received datagram: its global route header. */
const routeBytes = 40;
const queueKey = 0x1111_1111;
/** Sends have the queue pair's index as wrId; receives add this. */
const firstReceive = 0x1_0000;

/**
 * One end of a measurement: queue pairs, memory that they send from, and memory that the peer sends to. It knows only the
 * {@link EndAddress} of the other end.
 */
export class End {
  readonly address: EndAddress;
  readonly queuePairs: readonly QueuePair[];
  /** Source of SENDs and WRITEs, destination of READs and atomics: an area for each queue pair. */
  readonly local: MemoryRegion;
  /** Memory that the peer writes, reads and sends to: an area for each queue pair. */
  readonly exposed: MemoryRegion;
  readonly completionQueue: CompletionQueue;
  private readonly options: EndOptions;
  private readonly protectionDomain: ProtectionDomain;
  private readonly completions = Array.from({ length: completionsAtOnce }, () => new Completion());
  private readonly receives: readonly ReceiveRequest[];
  private peer: RemoteMemory | undefined;
  /** Address handles of the peers of datagrams, by queue pair. */
  private datagrams: readonly Pick<SendRequest, 'addressHandle' | 'destinationQueuePair' | 'queueKey'>[] = [];
  private receivedMessages = 0;

  constructor(context: Context, options: EndOptions) {
    const { type, queuePairs, txDepth, rxDepth, inlineBytes } = options;
    this.options = options;
    this.protectionDomain = context.createProtectionDomain();
    this.completionQueue = context.createCompletionQueue({ entries: queuePairs * (txDepth + rxDepth) });
    this.queuePairs = Array.from({ length: queuePairs }, () =>
      this.protectionDomain.createQueuePair({
        type,
        sendCompletionQueue: this.completionQueue,
        receiveCompletionQueue: this.completionQueue,
        capabilities: {
          maxSendWorkRequests: txDepth,
          maxReceiveWorkRequests: rxDepth,
          maxInlineData: inlineBytes,
          maxGatherEntries: 1,
          maxScatterEntries: 1,
        },
      }),
    );
    this.local = this.protectionDomain.allocate(queuePairs * this.strideOf('local'), everyRight);
    this.exposed = this.protectionDomain.allocate(queuePairs * this.strideOf('exposed'), everyRight);
    this.receives = this.queuePairs.map((_, index) => ({
      wrId: firstReceive + index,
      scatter: [this.exposed.slice(index * this.strideOf('exposed'), this.strideOf('exposed'))],
    }));
    const { address, remoteKey: key, length } = this.exposed;
    this.address = {
      queuePairs: this.queuePairs.map((queuePair) => addressOf(context, queuePair, options)),
      memory: { address: address.toString(), key, length },
    };
  }

  /** Messages received. */
  get received(): number {
    return this.receivedMessages;
  }

  connect({ queuePairs, memory }: EndAddress): void {
    const {
      type,
      port,
      gidIndex,
      serviceLevel,
      mtu,
      readAtomics,
      timeout,
      endToEndCredits = false,
    } = this.options;
    const pathMtu = pathMtus[mtu]!;
    const attributes = { port, gidIndex, serviceLevel, pathMtu, readAtomics, timeout, endToEndCredits };
    for (const [index, queuePair] of this.queuePairs.entries()) {
      const local = this.address.queuePairs[index]!;
      if (type === 'UD') openQueuePair(queuePair, local, queueKey, attributes);
      else connectQueuePair(queuePair, local, queuePairs[index]!, attributes);
    }
    if (type === 'UD') {
      this.datagrams = queuePairs.map((remote) => ({
        addressHandle: this.protectionDomain.createAddressHandle(addressVectorTo(remote, attributes)),
        destinationQueuePair: remote.queuePairNumber,
        queueKey,
      }));
    }
    this.peer = new RemoteMemory({ ...memory, address: BigInt(memory.address) });
    if (this.options.operation !== 'send') return;
    for (let index = 0; index < this.queuePairs.length; index++) {
      for (let each = 0; each < this.options.rxDepth; each++) this.postReceive(index);
    }
  }

  /** The area of a queue pair in {@link local} or {@link exposed}. */
  area(memory: 'local' | 'exposed', index: number): Uint8Array {
    const stride = this.strideOf(memory);
    return this[memory].bytes.subarray(index * stride + this.roomIn(memory), (index + 1) * stride);
  }

  /** The work request of a message of a queue pair. */
  request(index: number, bytes: number, signaled: boolean): SendRequest {
    const { operation, atomicType, inlineBytes } = this.options;
    const at = index * this.strideOf('local');
    const brings = operation === 'read' || operation === 'atomic';
    const data =
      bytes <= inlineBytes && !brings
        ? { inlineData: this.local.bytes.subarray(at, at + bytes) }
        : { gather: [this.local.slice(at, bytes)] };
    return {
      opcode: opcodeOf(operation, atomicType),
      wrId: index,
      signaled,
      ...data,
      ...(operation === 'send' ? this.datagrams[index] : { remote: this.peer!.slice(at) }),
      ...(operation === 'atomic' ? atomicOperands[atomicType] : {}),
    };
  }

  /**
   * Polls completions, which drives the device if there are none, and posts receives again.
   * @param done called with the queue pair's index for each signaled message @param received called for each received message
   * @returns whether there were any @throws CompletionError
   */
  poll(done: (index: number) => void, received: (index: number, bytes: number) => void): boolean {
    const count = this.completionQueue.poll(this.completions);
    for (let each = 0; each < count; each++) {
      const completion = this.completions[each]!;
      if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
      const { wrIdLow } = completion;
      if (wrIdLow < firstReceive) done(wrIdLow);
      else {
        this.postReceive(wrIdLow - firstReceive);
        this.receivedMessages += 1;
        received(wrIdLow - firstReceive, completion.byteLength);
      }
    }
    return count > 0;
  }

  close(): void {
    this.protectionDomain[Symbol.dispose]();
    this.completionQueue[Symbol.dispose]();
  }

  /** Bytes of a queue pair's area. */
  private strideOf(memory: 'local' | 'exposed'): number {
    const bytes = Math.max(this.options.bytes, atomicBytes) + this.roomIn(memory);
    return Math.ceil(bytes / cacheLine) * cacheLine;
  }

  /** Bytes before the data in an area. */
  private roomIn(memory: 'local' | 'exposed'): number {
    return memory === 'exposed' && this.options.type === 'UD' ? routeBytes : 0;
  }

  private postReceive(index: number): void {
    this.queuePairs[index]!.postReceive(this.receives[index]!);
  }
}

const atomicOperands = {
  CMP_AND_SWAP: { compareAdd: 0n, swap: 1n },
  FETCH_AND_ADD: { compareAdd: 1n },
} as const;
