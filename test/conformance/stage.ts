import { randomUUID } from 'node:crypto';

import type { EmulatedBoard } from '../../lib/board/addon.ts';
import {
  Access,
  Completion,
  CompletionStatus,
  Opcode,
  PathMtu,
  QueuePairState,
  RemoteMemory,
  nextRemoteKey,
  type MemoryRegion,
  type QueuePair,
  type SendRequest,
} from '../../lib/index.ts';
import { completionStatusNames } from '../../lib/spec/index.ts';
import { everyRight } from '../helpers/connected.ts';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';
import { Words, packetText, parsePacket, payloadOf, type Meaning } from './notation.ts';
import type { Row, Setup, Step } from './table.ts';
import { buildPacket, readPacket, type Route, type Service } from './wire.ts';
import { specificationNames } from '../helpers/specification_names.ts';

const specifiedCompletionStatusNames = specificationNames(completionStatusNames);

const targetBytes = 4096;
const slotBytes = 1024;
const peerKey = 0x1234_5678;
const peerAddress = 0x7000_0000_0000n;
const queueKey = 0x1111_1111;
const routeBytes = 40;

/** Clock ticks, which are nanoseconds: twice 4.096 µs × 2^14, within one to four times which a timeout is detected. */
const timeout = 2 * 4096 * 2 ** 14;
/** RNR timer code 12 (InfiniBand volume 1, table 45). */
const receiverNotReadyWait = 640_000;
const waits = {
  timeout,
  'nearly timeout': timeout - 1000,
  rnr: receiverNotReadyWait,
  'nearly rnr': receiverNotReadyWait - 1000,
};

const states = {
  RTS: QueuePairState.readyToSend,
  SQE: QueuePairState.sendQueueError,
  ERR: QueuePairState.error,
};

const requests: Readonly<Record<string, Opcode>> = {
  send: Opcode.send,
  send_with_immediate: Opcode.sendWithImmediate,
  rdma_write: Opcode.rdmaWrite,
  rdma_write_with_immediate: Opcode.rdmaWriteWithImmediate,
  rdma_read: Opcode.rdmaRead,
  compare_and_swap: Opcode.atomicCompareAndSwap,
  fetch_and_add: Opcode.atomicFetchAndAdd,
};

/** Packets and completions of a step. */
export interface Outcome {
  out: string[];
  sent: string[];
  received: string[];
}

/** A board with one queue pair; the test is its peer on the wire. */
export class Stage {
  private readonly service: Service;
  private readonly start: number;
  private readonly setup: Setup;
  private readonly verbs: Verbs;
  private readonly board: EmulatedBoard;
  private readonly queuePair: QueuePair;
  private readonly memories: Readonly<Record<string, MemoryRegion>>;
  private readonly before: Readonly<Record<string, Uint8Array>>;
  private readonly keys: Readonly<Record<string, number>>;
  private readonly route: Route;
  private readonly meaning: Meaning;
  private readonly peerQueuePair: number;
  private posted = 0;
  private receivesPosted = 0;

  /** @param start first PSN of both directions */
  constructor({ service = 'RC', setup = {} }: Row, start: number) {
    this.service = service;
    this.start = start;
    const fabric = randomUUID();
    const options = { fabric, queuePairs: 16, acknowledgeCoalescing: setup.coalescing === true };
    this.verbs = makeVerbs(undefined, options);
    // A board that has the peer's address, but no queue pair that answers.
    const silent = makeVerbs(undefined, options);
    this.board = this.verbs.board;
    const { context, protectionDomain, completionQueue } = this.verbs;
    this.route = {
      sourceMac: silent.context.queryPort(1).mac,
      sourceGid: silent.context.queryGid(1, 0),
      destinationMac: context.queryPort(1).mac,
      destinationGid: context.queryGid(1, 0),
    };
    this.queuePair = protectionDomain.createQueuePair({
      type: service,
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
      capabilities: { maxSendWorkRequests: 64, maxReceiveWorkRequests: 64 },
    });
    this.peerQueuePair = 0x4711;
    this.setup = setup;
    this.bringUp();
    const make = (bytes: number, rights = everyRight, domain = protectionDomain): MemoryRegion =>
      domain.allocate(bytes, rights);
    const target = make(targetBytes, everyRight | Access.memoryWindowBind);
    const closed = make(targetBytes);
    this.memories = { target, inbox: make(16 * slotBytes), local: make(16 * slotBytes) };
    Object.values(this.memories).forEach(({ bytes }, index) =>
      bytes.set(payloadOf(1_000_000, index + 1, bytes.length)),
    );
    if (setup.word !== undefined) wordOf(target).setBigUint64(0, BigInt(setup.word), true);
    this.keys = {
      target: target.remoteKey,
      closed: closed.remoteKey,
      foreign: make(targetBytes, everyRight, context.createProtectionDomain()).remoteKey,
      readable: make(targetBytes, Access.localWrite | Access.remoteRead).remoteKey,
      peer: peerKey,
      ...(setup.window === true && { window: this.bindWindow(target) }),
    };
    closed.close();
    this.before = Object.fromEntries(
      Object.entries(this.memories).map(([name, { bytes }]) => [name, bytes.slice()]),
    );
    this.meaning = this.makeMeaning();
    this.board.startPacketTrace(10_000);
  }

  /** Executes a step, and returns the packets and completions that follow. */
  play(step: Step): Outcome {
    if (step.reconnect === true) this.reconnect();
    this.queuePair.postReceive((step.receives ?? []).map((bytes) => this.receive(bytes)));
    if (step.post !== undefined) this.queuePair.postSend(step.post.map((text) => this.sendRequest(text)));
    for (const text of step.in ?? []) {
      const packet = parsePacket(text, this.meaning);
      this.board.arrive(buildPacket(this.route, { ...packet, destinationQueuePair: this.queuePair.number }));
    }
    this.board.runUntilIdle();
    if (step.wait !== undefined) this.board.advanceTime(waits[step.wait]);
    this.board.runUntilIdle();
    const completions = this.poll();
    const text = ({ wrId, status }: Completion): string =>
      `${wrId} ${specifiedCompletionStatusNames[status]}`;
    return {
      out: this.board
        .takePackets()
        .filter(({ direction }) => direction === 'out')
        .map(({ data }) => this.read(data)),
      sent: completions.filter(({ workQueue }) => workQueue === 0).map(text),
      received: completions
        .filter(({ workQueue }) => workQueue === 1)
        .map((each) => text(each) + contentsOf(each)),
    };
  }

  get state(): string {
    const { state } = this.queuePair.query();
    return Object.entries(states).find(([, value]) => value === state)?.[0] ?? String(state);
  }

  /**
   * The memories that differ from their previous content with `changes`: `REGION OFFSET+BYTES=@PSN[/DATA]`,
   * `=NUMBER` or `=route`.
   */
  wrongMemories(changes: readonly string[]): string[] {
    const expected = Object.fromEntries(
      Object.entries(this.before).map(([name, bytes]) => [name, bytes.slice()]),
    );
    for (const change of changes) {
      const [, name, offset, length, value] = /^(\w+) (\d+)\+(\d+)=(.+)$/.exec(change)!;
      const place = expected[name!]!.subarray(Number(offset), Number(offset) + Number(length));
      if (value === 'route')
        place.set(this.memories[name!]!.bytes.subarray(Number(offset), Number(offset) + routeBytes));
      else if (value!.startsWith('@')) {
        const [psn, data = '0'] = value!.slice(1).split('/');
        place.set(payloadOf(Number(psn), Number(data), place.length));
      } else new DataView(place.buffer, place.byteOffset).setBigUint64(0, BigInt(value!), true);
    }
    return Object.entries(this.memories)
      .filter(([name, { bytes }]) => Buffer.compare(bytes, expected[name]!) !== 0)
      .map(([name]) => name);
  }

  private reconnect(): void {
    this.queuePair.modify({ state: QueuePairState.reset });
    this.bringUp();
  }

  private bringUp(): void {
    const { queuePair, setup } = this;
    if (this.service === 'UD') {
      queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, queueKey });
      queuePair.modify({ state: QueuePairState.readyToReceive });
      queuePair.modify({ state: QueuePairState.readyToSend, sendPsn: this.start });
      return;
    }
    const isReliable = this.service === 'RC';
    const without = (setup.without ?? []).reduce((sum, name) => sum | Access[name], 0);
    const accessFlags = everyRight & ~without;
    queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags });
    queuePair.modify({
      state: QueuePairState.readyToReceive,
      addressVector: { port: 1, isGlobal: true, hopLimit: 64, destinationGid: this.route.sourceGid },
      pathMtu: PathMtu.mtu256,
      destinationQueuePair: this.peerQueuePair,
      receivePsn: this.start,
      ...(isReliable && {
        maxDestinationReadAtomic: setup.resources ?? 16,
        minReceiverNotReadyTimer: 12,
        ...(setup.credits === true && { endToEndCredits: true }),
      }),
    });
    queuePair.modify({
      state: QueuePairState.readyToSend,
      sendPsn: this.start,
      ...(isReliable && {
        timeout: setup.timeout ?? 14,
        retryCount: setup.retries ?? 7,
        receiverNotReadyRetry: setup.rnrRetries ?? 7,
        maxReadAtomic: setup.depth ?? 16,
      }),
    });
  }

  private bindWindow(target: MemoryRegion): number {
    const window = this.verbs.protectionDomain.createMemoryWindow(2);
    const key = nextRemoteKey(window.remoteKey);
    const access = Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;
    this.queuePair.postSend({
      opcode: Opcode.bindMemoryWindow,
      signaled: true,
      bind: { key, memory: target.slice(0, slotBytes), access },
    });
    this.board.runUntilIdle();
    const [{ status } = new Completion()] = this.poll();
    if (status !== CompletionStatus.success) throw new Error(`the window is not bound: ${status}`);
    return key;
  }

  private makeMeaning(): Meaning {
    const { keys, memories } = this;
    const address = (name: string): bigint =>
      name === 'peer' ? peerAddress : (memories[name] ?? memories['target']!).remote().address;
    const nameOfKey = (key: number): string =>
      Object.keys(keys).find((name) => keys[name] === key) ?? key.toString(16);
    return {
      service: this.service,
      start: this.start,
      keyOf: (name) => {
        const key = keys[name];
        if (key === undefined) throw new Error(`no key is named ${name}`);
        return key;
      },
      addressOf: (name, offset) => address(name) + BigInt(offset),
      nameOfKey,
      offsetOf: (key, at) => Number(at - address(nameOfKey(key))),
      placeOf: (payload) => {
        for (const [name, { bytes }] of Object.entries(memories)) {
          const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(payload);
          if (at >= 0) return `${name}+${at}`;
        }
        return 'nowhere';
      },
    };
  }

  private receive(bytes: number): { wrId: number; scatter: ReturnType<MemoryRegion['slice']>[] } {
    const wrId = this.receivesPosted++;
    const scatter = bytes === 0 ? [] : [this.memories['inbox']!.slice(wrId * slotBytes, bytes)];
    return { wrId, scatter };
  }

  /** `OPERATION bytes= at= [local=] [fence] [unsignaled] [immediate=] [compare= swap=] [add=]` */
  private sendRequest(text: string): SendRequest {
    const words = new Words(text);
    const wrId = this.posted++;
    const opcode = requests[words.name];
    if (opcode === undefined) throw new Error(`no work request is named ${words.name}`);
    const isAtomic = /swap|add/.test(words.name);
    const bytes = words.number('bytes', isAtomic ? 8 : 0);
    const at = words.number('at', 0);
    const local = words.number('local', wrId * slotBytes);
    const immediate = words.number('immediate', 0);
    const request: SendRequest = {
      opcode,
      wrId,
      signaled: !words.has('unsignaled'),
      fence: words.has('fence'),
      gather: bytes === 0 ? [] : [this.memories['local']!.slice(local, bytes)],
      ...(words.name.includes('immediate') && { immediateData: immediate }),
      ...(!words.name.startsWith('send') && {
        remote: new RemoteMemory({ address: peerAddress + BigInt(at), key: peerKey, length: bytes }),
      }),
      ...(isAtomic && { compareAdd: words.big('compare') || words.big('add'), swap: words.big('swap') }),
    };
    words.end();
    return request;
  }

  private read(data: Uint8Array): string {
    const packet = readPacket(data);
    if (packet.destinationQueuePair !== this.peerQueuePair)
      throw new Error(`a packet for queue pair ${packet.destinationQueuePair}`);
    return packetText(packet, this.meaning);
  }

  private poll(): Completion[] {
    const taken: Completion[] = [];
    for (;;) {
      const completion = new Completion();
      if (this.verbs.completionQueue.poll([completion]) === 0) return taken;
      taken.push(completion);
    }
  }
}

function wordOf({ bytes }: MemoryRegion): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The description of a successful receive. */
function contentsOf(completion: Completion): string {
  const { status, byteLength, withImmediate, withInvalidate, immediateData, solicited } = completion;
  if (status !== CompletionStatus.success) return '';
  const immediate = withImmediate
    ? ` immediate=${Buffer.from(Uint32Array.of(immediateData).buffer).readUInt32BE()}`
    : '';
  return ` ${byteLength}${immediate}${withInvalidate ? ' invalidated' : ''}${solicited ? ' solicited' : ''}`;
}
