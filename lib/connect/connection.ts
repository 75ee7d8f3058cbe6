import { wrongType } from '../driver/arguments.ts';
import {
  Access,
  Completion,
  CompletionError,
  CompletionStatus,
  Opcode,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type MemorySlice,
  type ProtectionDomain,
  type QueuePair,
  type QueuePairCapabilities,
  type RemotePlace,
  type SendRequest,
  type WaitOptions,
} from '../index.ts';
import { checkWaitOptions } from '../verbs/polling_wait.ts';
import { addressOf, type QueuePairAddress } from './address.ts';
import { connectQueuePair, type ConnectionAttributes } from './connect_queue_pair.ts';
import { unlessGivenUp } from './give_up.ts';
import { WorkQueueSlots, type Operation } from './work_queue_slots.ts';

/** Options for creating a connection. */
export interface ConnectionOptions extends ConnectionAttributes {
  /** Sizes of its queues; the default of maxInlineData is 256. */
  readonly capabilities?: QueuePairCapabilities;
}

/** Data to send or write: registered memory, a list of pieces of it, or up to 256 B of any other memory. */
export type Data = MemorySlice | readonly MemorySlice[] | Uint8Array;

/** A received message. */
export interface Received {
  /** Length in bytes. */
  readonly byteLength: number;
  /** Immediate data of the peer's work request, if any. */
  readonly immediateData?: number;
}

/** A posted work request that has not completed. */
interface Pending {
  readonly slots: WorkQueueSlots;
  readonly settle: (completion: Completion) => void;
  readonly reject: (reason: unknown) => void;
}

/** Memory for the result of an atomic. */
interface AtomicResult {
  readonly slice: MemorySlice;
  readonly view: DataView;
}

const everyRight = Access.localWrite | Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;
const wrIds = 2 ** 52;

/**
 * A reliable connection for programs that await each operation instead of polling. Operations that find their queue full wait for their
 * turn, in the order of the calls.
 *
 * ```ts
 * const [a, b] = [new Connection(context), new Connection(peer)];
 * a.connect(b.address);
 * b.connect(a.address);
 * const received = b.receive(buffer.slice());
 * await a.send(data.slice());
 * console.log((await received).byteLength);
 * ```
 */
export class Connection {
  /** Address for the peer. */
  readonly address: QueuePairAddress;
  /** Protection domain of its memory. */
  readonly protectionDomain: ProtectionDomain;
  /** Completion queue of its sends and receives. */
  readonly completionQueue: CompletionQueue;
  /** The queue pair, of type RC. */
  readonly queuePair: QueuePair;
  private readonly attributes: ConnectionAttributes;
  private readonly sends: WorkQueueSlots;
  private readonly receives: WorkQueueSlots;
  private readonly pending = new Map<number, Pending>();
  private nextWrId = 0;
  private waiting = 0; // those who have not given up
  private pumping = false;
  private sleep = new AbortController();
  private readonly freeResults: AtomicResult[] = [];

  /** Creates the queue pair and its completion queue. @throws VerbsError the device has no room for its objects */
  constructor(context: Context, { capabilities = {}, ...attributes }: ConnectionOptions = {}) {
    this.attributes = attributes;
    const { maxSendWorkRequests = 128, maxReceiveWorkRequests = 128 } = capabilities;
    this.sends = new WorkQueueSlots(maxSendWorkRequests);
    this.receives = new WorkQueueSlots(maxReceiveWorkRequests);
    const made: Disposable[] = [];
    try {
      this.protectionDomain = context.createProtectionDomain();
      made.push(this.protectionDomain);
      // The queue has room for all outstanding work requests and never overruns.
      this.completionQueue = context.createCompletionQueue({
        entries: maxSendWorkRequests + maxReceiveWorkRequests,
      });
      made.push(this.completionQueue);
      this.queuePair = this.protectionDomain.createQueuePair({
        type: 'RC',
        sendCompletionQueue: this.completionQueue,
        receiveCompletionQueue: this.completionQueue,
        capabilities: { maxInlineData: largestInline, ...capabilities },
        signalAll: true,
      });
      made.push(this.queuePair);
      this.address = addressOf(context, this.queuePair, attributes);
    } catch (error) {
      for (const object of made.reverse()) object[Symbol.dispose]();
      throw error;
    }
  }

  /** Connects to the peer, which does the same with this side's address. @throws as connectQueuePair */
  connect(peer: QueuePairAddress): void {
    connectQueuePair(this.queuePair, this.address, peer, this.attributes);
  }

  /** Allocates memory that both sides can access. @param bytes more than 0 */
  allocate(bytes: number): MemoryRegion {
    return this.protectionDomain.allocate(bytes, everyRight);
  }

  /** Sends to a receive of the peer; resolves when the peer has acknowledged. @throws CompletionError */
  async send(
    data: Data,
    { immediateData, ...wait }: WaitOptions & { readonly immediateData?: number } = {},
  ): Promise<void> {
    const opcode = immediateData === undefined ? Opcode.send : Opcode.sendWithImmediate;
    await this.post({ opcode, ...dataOf(data), immediateData }, wait);
  }

  /** Receives the peer's next message into `memory`. @throws CompletionError */
  async receive(memory: MemorySlice, wait: WaitOptions = {}): Promise<Received> {
    return this.await(
      this.receives,
      wait,
      (wrId) => this.queuePair.postReceive({ wrId, scatter: [memory] }),
      ({ byteLength, withImmediate, immediateData }) =>
        withImmediate ? { byteLength, immediateData } : { byteLength },
    );
  }

  /** Writes into the peer's memory; with immediate data it also completes a receive of the peer. @throws CompletionError */
  async write(
    data: Data,
    remote: RemotePlace,
    { immediateData, ...wait }: WaitOptions & { readonly immediateData?: number } = {},
  ): Promise<void> {
    const opcode = immediateData === undefined ? Opcode.rdmaWrite : Opcode.rdmaWriteWithImmediate;
    await this.post({ opcode, ...dataOf(data), remote, immediateData }, wait);
  }

  /** Reads memory of the peer into `memory`. @throws CompletionError */
  async read(memory: MemorySlice, remote: RemotePlace, wait: WaitOptions = {}): Promise<void> {
    await this.post({ opcode: Opcode.rdmaRead, gather: [memory], remote }, wait);
  }

  /** Writes `swap` to 8 aligned bytes of the peer if they equal `compare`. Returns their previous value. @throws CompletionError */
  async compareAndSwap(
    remote: RemotePlace,
    compare: bigint,
    swap: bigint,
    wait: WaitOptions = {},
  ): Promise<bigint> {
    return this.atomic({ opcode: Opcode.atomicCompareAndSwap, remote, compareAdd: compare, swap }, wait);
  }

  /** Adds to 8 aligned bytes of the peer. Returns their previous value. @throws CompletionError */
  async fetchAndAdd(remote: RemotePlace, add: bigint, wait: WaitOptions = {}): Promise<bigint> {
    return this.atomic({ opcode: Opcode.atomicFetchAndAdd, remote, compareAdd: add }, wait);
  }

  /** Closes the connection, its objects and its memory, and rejects the pending operations. A second call has no effect. */
  close(): void {
    this.rejectAll(new DOMException('the connection was closed', 'AbortError'));
    this.queuePair[Symbol.dispose]();
    this.completionQueue[Symbol.dispose]();
    this.protectionDomain[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private async atomic(request: Omit<SendRequest, 'gather'>, wait: WaitOptions): Promise<bigint> {
    let result: AtomicResult;
    return this.await(
      this.sends,
      wait,
      (wrId) => {
        if (this.freeResults.length === 0) this.allocateResults();
        result = this.freeResults.at(-1)!;
        this.queuePair.postSend({ ...request, gather: [result.slice], wrId });
        this.freeResults.pop();
      },
      () => {
        this.freeResults.push(result);
        return result.view.getBigUint64(0, true);
      },
    );
  }

  private allocateResults(): void {
    const region = this.allocate(atomicBytes * atomicResults);
    const { buffer, byteOffset } = region.bytes;
    for (let at = 0; at < region.length; at += atomicBytes) {
      this.freeResults.push({
        slice: region.slice(at, atomicBytes),
        view: new DataView(buffer, byteOffset + at, atomicBytes),
      });
    }
  }

  private async post({ inlineData, ...request }: SendRequest, wait: WaitOptions): Promise<void> {
    // The caller may reuse its bytes at once, even if the operation is posted later.
    const inline = this.sends.full ? inlineData?.slice() : inlineData;
    await this.await(
      this.sends,
      wait,
      (wrId) => this.queuePair.postSend({ ...request, inlineData: inline, wrId }),
      () => {},
    );
  }

  /**
   * Posts an operation and waits for its completion. An aborted operation that is not posted yet is never posted; if it is posted, its
   * completion is still consumed.
   * @param slots of the queue that takes it
   * @param take receives the completion, good or bad, before the completion object and the memory are reused; its value is the result
   */
  private async await<Result>(
    slots: WorkQueueSlots,
    wait: WaitOptions,
    post: (wrId: number) => void,
    take: (completion: Completion) => Result,
  ): Promise<Result> {
    checkWaitOptions(wait);
    wait.signal?.throwIfAborted();
    let operation: Operation;
    const done = new Promise<Result>((resolve, reject) => {
      const settle = (completion: Completion): void => {
        const result = take(completion);
        if (completion.status === CompletionStatus.success) resolve(result);
        else reject(new CompletionError(completion));
      };
      operation = {
        post: () => {
          const wrId = this.nextWrId;
          post(wrId);
          this.nextWrId = (wrId + 1) % wrIds;
          this.pending.set(wrId, { slots, settle, reject });
        },
        reject,
      };
    });
    slots.enter(operation!);
    this.waiting += 1;
    void this.pump();
    try {
      return await unlessGivenUp(done, wait);
    } finally {
      slots.leave(operation!);
      this.waiting -= 1;
      if (this.waiting === 0) this.sleep.abort();
    }
  }

  /** Polls completions while an operation waits for one. */
  private async pump(): Promise<void> {
    if (this.pumping) return;
    this.pumping = true;
    const completions = Array.from({ length: 16 }, () => new Completion());
    try {
      while (this.waiting > 0) {
        const count = this.completionQueue.poll(completions);
        for (let index = 0; index < count; index++) this.settle(completions[index]!);
        if (count === completions.length) continue;
        if (count > 0) await nextTurn();
        else await this.sleepUntilCompletion();
      }
    } catch (reason) {
      this.rejectAll(reason);
    } finally {
      this.pumping = false;
    }
  }

  /** Also ends without a completion when no operation waits any more, so that it does not keep the process alive. */
  private async sleepUntilCompletion(): Promise<void> {
    this.sleep = new AbortController();
    const { signal } = this.sleep;
    try {
      await this.completionQueue.wait({ signal });
    } catch (reason) {
      if (!signal.aborted) throw reason;
    }
  }

  private settle(completion: Completion): void {
    const pending = this.pending.get(completion.wrId);
    this.pending.delete(completion.wrId);
    pending?.settle(completion);
    pending?.slots.done();
  }

  /** Rejects all operations: none can complete. */
  private rejectAll(reason: unknown): void {
    for (const { reject } of this.pending.values()) reject(reason);
    this.pending.clear();
    this.sends.abandon(reason);
    this.receives.abandon(reason);
  }
}

const atomicBytes = 8;
const atomicResults = 64; // at a time
const largestInline = 256;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** @throws TypeError neither memory nor bytes */
function dataOf(data: Data): Pick<SendRequest, 'gather' | 'inlineData'> {
  if (data instanceof Uint8Array) return { inlineData: data };
  if (typeof data !== 'object') {
    throw wrongType('data', 'a slice of a region, an array of them, or a Uint8Array', data);
  }
  return { gather: 'localKey' in data ? [data] : data };
}
