import { CompletionStatus, completionStatusNames, type Completion, type QueuePair } from '../../lib/index.ts';
import type { Random } from '../helpers/random.mjs';
import type { FlowMemory } from './flow_memory.ts';
import { receiveSlots } from './flow_memory.ts';
import { makeOperation, type Operation, type Service } from './flow_requests.ts';
import { require } from './party.ts';
import type { Pool } from './pool.ts';

const { success, workRequestFlushedError, retryExceededError, localLengthError } = CompletionStatus;

/** The guarantees that apply to a flow. */
export interface FlowPromises {
  readonly service: Service;
  /** Some work requests must fail. */
  readonly failures: boolean;
  /** The link loses nothing and delivers once and in order, as UC requires. */
  readonly isOrdered: boolean;
  /** An attacker may inject packets: the only guarantee is that no other memory is written. */
  readonly isVictim: boolean;
}

const mostOutstanding = 32;

/** One direction of a connection: work requests of one queue pair, and what its peer receives of them. */
export class Flow {
  readonly name: string;
  private readonly random: Random;
  private readonly memory: FlowMemory;
  private readonly operations: number;
  private readonly promises: FlowPromises;
  /** The shared receive queue of its messages; undefined: the receive queue of the queue pair. */
  private readonly pool: Pool | undefined;
  /** The work requests of every posted index. */
  private readonly made: Operation[] = [];
  private outstanding: Operation[] = [];
  private announced: Operation[] = [];
  private succeeded = new Set<number>();
  private receives = 0;
  private receivesLeft = 0;
  private failed = false;
  /** How often the word was incremented: least and most. */
  private adds: [number, number] = [0, 0];

  constructor(
    name: string,
    random: Random,
    memory: FlowMemory,
    operations: number,
    promises: FlowPromises,
    pool: Pool | undefined,
  ) {
    this.name = name;
    this.random = random;
    this.memory = memory;
    this.operations = operations;
    this.promises = promises;
    this.pool = pool;
  }

  /** A work request has failed since it was connected. */
  get hasFailed(): boolean {
    return this.failed;
  }

  /** Some outstanding work request must fail. */
  get hasToFail(): boolean {
    return this.outstanding.some(({ failure }) => failure !== undefined);
  }

  get isPosted(): boolean {
    return this.made.length === this.operations;
  }

  /** Nothing is outstanding, and all messages that must have arrived were received. */
  get isAtRest(): boolean {
    return this.outstanding.length === 0 && this.awaited.length === 0;
  }

  get progress(): string {
    const { name, made, outstanding, announced, receivesLeft } = this;
    const first = outstanding[0]?.index ?? '-';
    return `${name}: ${made.length} posted, ${outstanding.length} not complete from ${first} on, ${announced.length} not received, ${receivesLeft} receives`;
  }

  post(queuePair: QueuePair): void {
    const { random, memory, made, promises } = this;
    const room = Math.min(this.operations - made.length, mostOutstanding - this.outstanding.length);
    const count = Math.min(random.below(6), room);
    if (count <= 0 || this.failed) return;
    const batch = Array.from({ length: count }, (_, index) =>
      makeOperation(random, memory, made.length + index, promises.service, promises.failures),
    ).map((operation, index) => ({
      ...operation,
      request: { ...operation.request, signaled: index === count - 1 || random.once(2) },
    }));
    made.push(...batch);
    this.outstanding.push(...batch);
    this.announced.push(...batch.filter(({ isAnnounced }) => isAnnounced));
    queuePair.postSend(batch.map(({ request }) => request));
  }

  /** Performs a random operation on its memory window. @param owner queue pair that receives */
  changeWindow(owner: QueuePair): void {
    this.memory.window.act(owner, this.outstanding.length === 0);
  }

  /** Whether a completion of the receiving queue pair belongs to the window. */
  takeOfWindow(completion: Completion, excused: boolean): boolean {
    return this.memory.window.take(completion, excused || this.promises.isVictim);
  }

  postReceive(queuePair: QueuePair): void {
    if (this.pool !== undefined) return;
    for (let count = this.random.below(4); count > 0 && this.receivesLeft < receiveSlots; count--) {
      const wrId = this.receives++;
      this.receivesLeft++;
      queuePair.postReceive({ wrId, scatter: this.memory.receivePieces(this.random, wrId) });
    }
  }

  /** @param excused its queue pair may have failed through an injected fault */
  takeSent({ wrId, status }: Completion, excused: boolean): void {
    const at = this.outstanding.findIndex(({ index }) => index === wrId);
    const tell = (what: string): string =>
      `${this.name}: work request ${wrId} ${completionStatusNames[status]}, ${what}`;
    require(at >= 0, () => tell(`which is not outstanding; ${this.progress}`));
    const ended = this.outstanding.splice(0, at + 1);
    const last = ended.pop()!;
    for (const operation of ended) {
      require(operation.request.signaled !== true, () => tell(`before ${operation.index} has completed`));
      if (!this.failed) this.succeed(operation);
    }
    if (status === success) {
      require(!this.failed, () => tell('behind one that has failed'));
      this.succeed(last);
      return;
    }
    const isExpected = this.failed
      ? status === workRequestFlushedError
      : status === last.failure ||
        (excused && (status === retryExceededError || status === workRequestFlushedError));
    require(isExpected || this.promises.isVictim, () =>
      tell(`expected ${completionStatusNames[last.failure ?? success]}`));
    this.failed = true;
    for (const { isAtomic } of [...ended, last]) if (isAtomic) this.adds[1]++;
  }

  takeReceived(completion: Completion): void {
    const { pool } = this;
    if (pool === undefined) {
      this.receivesLeft--;
      this.checkReceived(completion, this.memory.received(completion.wrId));
    } else {
      this.checkReceived(completion, pool.bytes(completion.wrId));
      pool.release(completion.wrId);
    }
  }

  /** Its queue pair is in ERR, although no work request has failed. */
  fail(): void {
    this.failed = true;
  }

  /** Its queue pairs are reset: each outstanding work request may or may not have been executed. */
  restart(): void {
    for (const { isAtomic } of this.outstanding) if (isAtomic) this.adds[1]++;
    this.outstanding = [];
    this.announced = [];
    this.receivesLeft = 0;
    this.failed = false;
    this.memory.window.restart();
  }

  /** @throws Violation memory was written without the right, or a message is missing */
  verify(): void {
    const { made, promises, memory } = this;
    const damage = memory.findDamage((index) =>
      promises.isVictim || made[index]?.isWritten === true ? (made[index]?.length ?? 0) : 0,
    );
    require(damage === undefined || promises.isVictim, () => `${this.name}: ${damage}`);
    require(memory.isIntact, () => `${this.name}: memory beside its regions was written`);
    if (promises.isVictim) return;
    for (const index of this.succeeded)
      require(!made[index]!.isWritten || made[index]!.isDone() || promises.service === 'UC', () =>
        `${this.name}: ${index} was written, and is gone`);
  }

  close(): void {
    this.memory.close();
  }

  /** RC only: messages that have succeeded but were not received. */
  private get awaited(): Operation[] {
    if (this.promises.service === 'UC' || this.promises.isVictim) return [];
    return this.announced.filter(({ index }) => this.succeeded.has(index));
  }

  private checkReceived(
    { wrId, status, byteLength, immediateData, withImmediate }: Completion,
    bytes: Uint8Array,
  ): void {
    const tell = (what: string): string =>
      `${this.name}: receive ${wrId} ${completionStatusNames[status]}, ${what}`;
    if (this.promises.isVictim || status === workRequestFlushedError) return;
    const operation = this.arrived(withImmediate ? immediateData : undefined);
    require(operation !== undefined, () => tell(`immediate ${immediateData}, of nothing that was sent`));
    const { index, failure, isWritten, isDone, length, request } = operation;
    if (failure !== undefined) {
      require(status === localLengthError, () => tell(`${index} is too long`));
      return;
    }
    require(status === success, () => tell('expected success'));
    require(byteLength === length, () => tell(`${byteLength} B of ${length} B of ${index}`));
    const carried = request.immediateData;
    require(withImmediate ? immediateData === carried : carried === undefined, () =>
      tell(`immediate data of ${index}`));
    const isThere = isWritten
      ? isDone()
      : this.memory.isMessage(bytes, index, length, this.promises.service === 'RC');
    require(isThere, () => tell(`the data is not that of ${index}`));
  }

  /** The message that a receive got. */
  private arrived(immediate: number | undefined): Operation | undefined {
    const { announced, promises } = this;
    if (promises.service === 'RC') return announced.shift();
    if (!promises.isOrdered)
      return this.made.find(({ index, isAnnounced }) => isAnnounced && index === immediate);
    const at = announced.findIndex(({ index }) => index === immediate);
    return announced.splice(0, at + 1).at(-1);
  }

  private succeed(operation: Operation): void {
    const { index, failure, isAtomic, isDone } = operation;
    const { promises } = this;
    if (promises.isVictim) return;
    require(failure === undefined, () => `${this.name}: ${index} has to fail, and succeeded`);
    require(promises.service === 'UC' || isDone(), () =>
      `${this.name}: ${index} has succeeded and its data is not there`);
    this.succeeded.add(index);
    if (!isAtomic) return;
    const former = this.memory.formerValue(index);
    const [least, most] = this.adds;
    require(least <= former && former <= most, () =>
      `${this.name}: atomic ${index} found ${former}, expected ${least} to ${most}`);
    this.adds = [former + 1, former + 1];
  }
}
