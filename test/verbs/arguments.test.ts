import { describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import { Connection } from '../../lib/connect/index.ts';
import { Completion, Opcode, QueuePairState, RemoteMemory, Resource, openDevice } from '../../lib/index.ts';
import { QueuePairAttribute } from '../../lib/spec/index.ts';
import { connect, makePair } from '../helpers/connected.ts';

// One device for all tests, because a refused call changes nothing.
const board = new (loadAddon().EmulatedBoard)({ progress: 'stepped', queuePairs: 64 });
const context = openDevice(board.open(0));
const protectionDomain = context.createProtectionDomain();
const completionQueue = context.createCompletionQueue();
const verbs = { board, context, protectionDomain, completionQueue };
const [end, peer] = makePair(verbs);
const { queuePair } = end;
const connection = new Connection(context);
connection.connect(connection.address);
const region = protectionDomain.allocate(4096);
const gather = [region.slice(0, 8)];
const remote = region.remote();
const both = { sendCompletionQueue: completionQueue, receiveCompletionQueue: completionQueue };
const { send, sendWithImmediate, rdmaWrite, atomicFetchAndAdd, atomicCompareAndSwap } = Opcode;

/** The error of a call. */
function thrown(use: () => unknown): Error {
  try {
    use();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

/** An argument that the compiler would reject. */
const any = (value: unknown): never => value as never;
const post = (request: unknown): void => queuePair.postSend(any(request));

/** Wrong arguments: the call, the error, and its message. */
const wrong: readonly (readonly [string, () => unknown, string, string])[] = [
  [
    'a device that is none',
    () => openDevice(any(5)),
    'TypeError',
    'device must be a device string, or a function of a board, got 5',
  ],
  [
    'no device',
    () => openDevice(any(null)),
    'TypeError',
    'device must be a device string, or a function of a board, got null',
  ],
  ['a port that there is not', () => context.queryPort(0), 'EINVAL', 'port must be 1, got 0'],
  ['half a port', () => context.queryPort(1.5), 'EINVAL', 'port must be 1, got 1.5'],
  ['a GID that there is not', () => context.queryGid(1, 99), 'RangeError', 'index must be 0 to 15, got 99'],
  [
    'no completions',
    () => context.createCompletionQueue({ entries: 0 }),
    'EINVAL',
    'entries must be 1 to 32768, got 0',
  ],
  ['no memory', () => protectionDomain.allocate(0), 'RangeError', 'bytes must be 1 to 2^48, got 0'],
  [
    'less than no memory',
    () => protectionDomain.allocate(-1),
    'RangeError',
    'bytes must be 1 to 2^48, got -1',
  ],
  [
    'memory by name',
    () => protectionDomain.allocate(any('5')),
    'TypeError',
    'bytes must be a number, got "5"',
  ],
  [
    'more memory than there is',
    () => protectionDomain.allocate(2 ** 40),
    'ENOMEM',
    'no memory is left for 1099511627776 B',
  ],
  [
    'rights that there are not',
    () => protectionDomain.allocate(5, 256),
    'RangeError',
    'access must be 0 to 255, got 256',
  ],
  [
    'rights by name',
    () => protectionDomain.allocate(5, any('all')),
    'TypeError',
    'access must be a whole number, got "all"',
  ],
  [
    'no completion queue',
    () => protectionDomain.createQueuePair(any({ type: 'RC', sendCompletionQueue: completionQueue })),
    'TypeError',
    'receiveCompletionQueue must be a CompletionQueue, got undefined',
  ],
  [
    'another object as completion queue',
    () =>
      protectionDomain.createQueuePair({ type: 'RC', ...both, sendCompletionQueue: any(protectionDomain) }),
    'TypeError',
    'sendCompletionQueue must be a CompletionQueue, got a ProtectionDomain',
  ],
  [
    'a service that there is not',
    () => protectionDomain.createQueuePair({ type: any('RD'), ...both }),
    'EINVAL',
    `type must be 'RC', 'UC' or 'UD', got "RD"`,
  ],
  [
    'a level that there is not',
    () => protectionDomain.createQueuePair({ type: 'RC', ...both, level: any(5) }),
    'EINVAL',
    'level must be QualityOfServiceLevel.low or QualityOfServiceLevel.high, got 5',
  ],
  ...[-1, 1.5, 2 ** 32, 'secret'].map(
    (checksumSecret) =>
      [
        `${checksumSecret} as a secret`,
        () => protectionDomain.createQueuePair({ type: 'RC', ...both, checksumSecret: any(checksumSecret) }),
        'EINVAL',
        `checksumSecret must be 0 to 4294967295, got ${checksumSecret === 'secret' ? '"secret"' : checksumSecret}`,
      ] as const,
  ),
  [
    'a state by name',
    () => queuePair.modify({ state: any('init') }),
    'EINVAL',
    'state must be a QueuePairState, got "init"',
  ],
  [
    'an attribute that there is not',
    () => queuePair.modify(any({ nothing: 1 })),
    'TypeError',
    `nothing is not known: the keys are ${Object.keys(QueuePairAttribute).join(', ')}`,
  ],
  [
    'more work requests than a queue has',
    () =>
      protectionDomain.createQueuePair({
        type: 'RC',
        ...both,
        capabilities: { maxSendWorkRequests: 40_000 },
      }),
    'EINVAL',
    'maxSendWorkRequests must be 1 to 32768, got 40000',
  ],
  [
    'a size by its name in libibverbs',
    () => protectionDomain.createQueuePair({ type: 'RC', ...both, capabilities: any({ max_send_wr: 4 }) }),
    'TypeError',
    'capabilities.max_send_wr is not known: use maxSendWorkRequests',
  ],
  [
    'options by their names in libibverbs',
    () => protectionDomain.createQueuePair(any({ qp_type: 'RC', ...both })),
    'TypeError',
    'qp_type is not known: use type',
  ],
  [
    'a state by its name in libibverbs',
    () => queuePair.modify(any({ qp_state: 3 })),
    'TypeError',
    'qp_state is not known: use state',
  ],
  [
    'a timer of 6 bits',
    () => queuePair.modify({ state: QueuePairState.readyToSend, minReceiverNotReadyTimer: 32 }),
    'EINVAL',
    'minReceiverNotReadyTimer must be 0 to 31, got 32',
  ],
  [
    'half an address vector',
    () => protectionDomain.createAddressHandle({ port: 1, serviceLevel: 16 }),
    'RangeError',
    'addressVector.serviceLevel must be 0 to 15, got 16',
  ],
  [
    'a short MAC address',
    () => protectionDomain.createAddressHandle({ port: 1, destinationMac: new Uint8Array(5) }),
    'TypeError',
    'addressVector.destinationMac must be a Uint8Array of 6 bytes, got a Uint8Array',
  ],
  [
    'a lane that there is not',
    () =>
      context.allocateResources([
        { resource: Resource.executionCredits, lane: 0, amount: 2 },
        { resource: Resource.transmitVirtualLanes, underlyingFunction: 0, lanes: [0, 64] },
      ]),
    'RangeError',
    'requests[1].lanes[1] must be 0 to 63, got 64',
  ],
  [
    'an operation that there is not',
    () => post({ opcode: 99 }),
    'EINVAL',
    'opcode must be one of Opcode.send, Opcode.sendWithImmediate, Opcode.sendWithInvalidate, Opcode.rdmaWrite, Opcode.rdmaWriteWithImmediate, Opcode.rdmaRead, Opcode.atomicCompareAndSwap, Opcode.atomicFetchAndAdd, Opcode.localInvalidate, Opcode.bindMemoryWindow on a queue pair of type RC, got 99',
  ],
  [
    'an operation by name',
    () => post({ opcode: 'send' }),
    'EINVAL',
    'opcode must be one of Opcode.send, Opcode.sendWithImmediate, Opcode.sendWithInvalidate, Opcode.rdmaWrite, Opcode.rdmaWriteWithImmediate, Opcode.rdmaRead, Opcode.atomicCompareAndSwap, Opcode.atomicFetchAndAdd, Opcode.localInvalidate, Opcode.bindMemoryWindow on a queue pair of type RC, got "send"',
  ],
  [
    'a region for a slice',
    () => post({ opcode: send, gather: [region] }),
    'TypeError',
    'gather[0] must be a slice of a memory region, as region.slice() gives it, got a MemoryRegion',
  ],
  [
    'a slice for a list',
    () => post({ opcode: send, gather: gather[0] }),
    'TypeError',
    'gather must be an array of slices of memory regions, got an object',
  ],
  [
    'a list with holes',
    () => post({ opcode: send, gather: [undefined] }),
    'TypeError',
    'gather[0] must be a slice of a memory region, as region.slice() gives it, got undefined',
  ],
  [
    'a slice that is too long',
    () => post({ opcode: send, gather: [{ ...gather[0], length: 2 ** 32 }] }),
    'RangeError',
    'gather[0].length must be 0 to 4294967295 B, got 4294967296',
  ],
  [
    'inline data and a list',
    () => post({ opcode: send, gather, inlineData: new Uint8Array(8) }),
    'EINVAL',
    'gather must be left out where inlineData is given, got an array of 1',
  ],
  [
    'inline text',
    () => post({ opcode: send, inlineData: 'text' }),
    'TypeError',
    'inlineData must be a Uint8Array, got "text"',
  ],
  [
    'inline numbers',
    () => post({ opcode: send, inlineData: [1, 2] }),
    'TypeError',
    'inlineData must be a Uint8Array, got an array of 2',
  ],
  [
    'a buffer inline',
    () => post({ opcode: send, inlineData: new ArrayBuffer(8) }),
    'TypeError',
    'inlineData must be a Uint8Array, got an ArrayBuffer',
  ],
  [
    'words inline',
    () => post({ opcode: send, inlineData: new Uint32Array(2) }),
    'TypeError',
    'inlineData must be a Uint8Array, got a Uint32Array',
  ],
  [
    'no immediate data',
    () => post({ opcode: sendWithImmediate }),
    'EINVAL',
    'immediateData must be 0 to 4294967295 with Opcode.sendWithImmediate, got undefined',
  ],
  [
    'immediate data below 0',
    () => post({ opcode: sendWithImmediate, immediateData: -1 }),
    'RangeError',
    'immediateData must be 0 to 4294967295, got -1',
  ],
  [
    'immediate data of 33 bits',
    () => post({ opcode: sendWithImmediate, immediateData: 2 ** 32 }),
    'RangeError',
    'immediateData must be 0 to 4294967295, got 4294967296',
  ],
  [
    'a wrId by name',
    () => post({ opcode: send, wrId: 'x' }),
    'TypeError',
    'wrId must be 0 to 2^53 - 1, or a bigint of 0 to 2^64 - 1, got "x"',
  ],
  [
    'a wrId below 0',
    () => post({ opcode: send, wrId: -1 }),
    'RangeError',
    'wrId must be 0 to 2^53 - 1, or a bigint of 0 to 2^64 - 1, got -1',
  ],
  [
    'a wrId of 65 bits',
    () => post({ opcode: send, wrId: 2n ** 64n }),
    'RangeError',
    'wrId must be 0 to 2^53 - 1, or a bigint of 0 to 2^64 - 1, got 18446744073709551616n',
  ],
  [
    'a slice for memory of the peer',
    () => post({ opcode: rdmaWrite, gather, remote: { ...gather[0] } }),
    'TypeError',
    'remote must be a RemoteMemory, as region.remote() of the peer gives it, got an object',
  ],
  [
    'an operand that is no bigint',
    () => post({ opcode: atomicFetchAndAdd, gather, remote, compareAdd: 1 }),
    'EINVAL',
    'compareAdd must be a bigint of 64 bits with Opcode.atomicFetchAndAdd, got 1',
  ],
  [
    'a new value that is no bigint',
    () => post({ opcode: atomicCompareAndSwap, gather, remote, compareAdd: 1n, swap: 1 }),
    'EINVAL',
    'swap must be a bigint of 64 bits with Opcode.atomicCompareAndSwap, got 1',
  ],
  [
    'a region to receive into',
    () => queuePair.postReceive({ scatter: [any(region)] }),
    'TypeError',
    'scatter[0] must be a slice of a memory region, as region.slice() gives it, got a MemoryRegion',
  ],
  [
    'no list to poll into',
    () => completionQueue.poll(any(new Completion())),
    'TypeError',
    'completions must be an array of Completion objects, got a Completion',
  ],
  [
    'a number to poll',
    () => completionQueue.poll(any(5)),
    'TypeError',
    'completions must be an array of Completion objects, got 5',
  ],
  [
    'an address by name',
    () => new RemoteMemory({ address: any('x'), key: 1, length: 1 }),
    'TypeError',
    'address must be 0 to 2^53 - 1, or a bigint of 0 to 2^64 - 1, got "x"',
  ],
  [
    'a key by name',
    () => new RemoteMemory({ address: 1, key: any('1'), length: 1 }),
    'RangeError',
    'key must be 0 to 4294967295, got "1"',
  ],
  [
    'an offset by name',
    () => region.slice(any('1')),
    'RangeError',
    `offset must be 0 to 4096, within ${region.label}, got "1"`,
  ],
  [
    'a slice beyond the end',
    () => region.slice(4000, 97),
    'RangeError',
    `length must be 0 to 96, from offset 4000 to the end of ${region.label}, got 97`,
  ],
  [
    'an address without a GID',
    () => connection.connect(any({})),
    'TypeError',
    'gid must be 32 hexadecimal digits, got undefined',
  ],
  [
    'a wait of no number',
    () => completionQueue.wait({ timeout: any('1s') }),
    'TypeError',
    'timeout must be a number of milliseconds, got "1s"',
  ],
  [
    'a wait of NaN',
    () => completionQueue.wait({ timeout: Number.NaN }),
    'RangeError',
    'timeout must be 0 ms or more, got NaN',
  ],
  [
    'a wait below 0',
    () => completionQueue.wait({ timeout: -5 }),
    'RangeError',
    'timeout must be 0 ms or more, got -5',
  ],
  [
    'a controller for its signal',
    () => completionQueue.wait({ signal: any(new AbortController()) }),
    'TypeError',
    'signal must be an AbortSignal: that of an AbortController, or AbortSignal.any(), got an AbortController',
  ],
  [
    'kicks for less than no time',
    () => context.kicks({ timeout: -1 }).next(),
    'RangeError',
    'timeout must be 0 ms or more, got -1',
  ],
  [
    'text to send',
    () => connection.send(any('text')),
    'TypeError',
    'data must be a slice of a region, an array of them, or a Uint8Array, got "text"',
  ],
  [
    'a region to send',
    () => connection.send(any(region)),
    'TypeError',
    'gather[0] must be a slice of a memory region, as region.slice() gives it, got a MemoryRegion',
  ],
  [
    'a region to receive',
    () => connection.receive(any(region)),
    'TypeError',
    'scatter[0] must be a slice of a memory region, as region.slice() gives it, got a MemoryRegion',
  ],
  [
    'a wait of a connection below 0',
    () => connection.send(new Uint8Array(1), { timeout: -1 }),
    'RangeError',
    'timeout must be 0 ms or more, got -1',
  ],
];

/** Work requests of a refused batch, the path in the error, and the rest of the message. */
const inBatches: readonly (readonly [object, string, string])[] = [
  [
    { opcode: send, gather: [{ ...gather[0], length: -1 }] },
    'gather[0].length',
    'must be 0 to 4294967295 B, got -1',
  ],
  [{ opcode: send, gather: [...gather, region] }, 'gather[1]', 'got a MemoryRegion'],
  [
    { opcode: send, gather: Array(17).fill(gather[0]) },
    'gather.length',
    'must be at most 16 (maxGatherEntries), got 17',
  ],
  [
    { opcode: send, inlineData: new Uint8Array(257) },
    'inlineData.length',
    'must be at most 256 B (maxInlineData), got 257',
  ],
  [{ opcode: send, wrId: -1 }, 'wrId', 'got -1'],
  [{ opcode: sendWithImmediate }, 'immediateData', 'with Opcode.sendWithImmediate, got undefined'],
  [
    { opcode: rdmaWrite, gather },
    'remote',
    'must be a RemoteMemory, as region.remote() of the peer gives it with Opcode.rdmaWrite, got undefined',
  ],
  [
    { opcode: atomicFetchAndAdd, remote, compareAdd: 1n, gather: [region.slice(0, 4)] },
    'gather[0].length',
    'must be 8 B with Opcode.atomicFetchAndAdd, got 4',
  ],
];

/** Keys of work requests in libibverbs, and the error's advice. */
const namesOfLibibverbs = {
  wr_id: 'wrId',
  sg_list: 'gather (of a receive: scatter)',
  num_sge: 'the length of the list',
  send_flags: 'signaled, fence, solicited and inlineData',
  imm_data: 'immediateData',
  invalidate_rkey: 'invalidateKey',
  remote_addr: 'remote',
  rkey: 'remote',
  compare_add: 'compareAdd',
  ah: 'addressHandle',
  remote_qpn: 'destinationQueuePair',
  remote_qkey: 'queueKey',
  next: 'an array of requests',
} as const;

describe('wrong arguments are refused, and the error names them', () => {
  it.each(wrong)('%s', async (_, use, kind, message) => {
    const error = (await (async () => use())().catch((reason: unknown) => reason)) as Error & {
      code?: string;
    };
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code]).toContain(kind);
    expect(error.message).toBe(message);
  });

  it.each(inBatches)('of a batch, by the path of the wrong one: %#', (request, path, rule) => {
    const good = { opcode: send, wrId: 1 };
    const error = thrown(() => post([good, good, good, request, good]));
    expect(error.message.startsWith(`requests[3].${path} must be `)).toBe(true);
    expect(error.message.endsWith(rule)).toBe(true);
    expect(error).toMatchObject({ attribute: `requests[3].${path}`, posted: 3 });
    expect(error.stack).toContain(error.message);
    const alone = thrown(() => post(request));
    expect(error.message).toBe(`requests[3].${alone.message}`);
    queuePair.modify({ state: QueuePairState.reset });
    connect(end, peer);
  });

  it.each(Object.entries(namesOfLibibverbs))(
    'the key %s of libibverbs, by the name that was meant',
    (key, name) => {
      const message = `${key} is not known: use ${name}`;
      expect(thrown(() => post({ opcode: send, [key]: 1 })).message).toBe(message);
      expect(thrown(() => post([{ opcode: send, [key]: 1 }])).message).toBe(`requests[0].${message}`);
      expect(thrown(() => queuePair.postReceive(any({ [key]: 1 }))).message).toBe(message);
    },
  );

  it('unknown keys of a work request, with the list of known ones', () => {
    expect(thrown(() => post({ opcode: send, Signaled: true })).message).toBe(
      'Signaled is not known: use signaled',
    );
    expect(thrown(() => post({ opcode: send, size: 1 })).message).toMatch(
      /^size is not known: the keys are opcode, wrId,.* queueKey$/,
    );
    expect(thrown(() => queuePair.postReceive(any({ gather }))).message).toBe(
      'gather is not known: the keys are scatter, wrId',
    );
    expect(thrown(() => post({ opcode: send, toString: 1 })).message).toMatch(/^toString is not known/);
  });

  it('and change nothing', () => {
    expect(queuePair.driver.sendQueue.outstanding).toBe(0);
    expect(queuePair.driver.receiveQueue!.outstanding).toBe(0);
    queuePair.postSend({ opcode: rdmaWrite, gather, remote, wrId: 5, signaled: true });
    const completion = new Completion();
    while (completionQueue.poll([completion]) === 0);
    expect(completion.wrId).toBe(5);
  });
});
