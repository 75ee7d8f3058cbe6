import { describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import { Connection } from '../../lib/connect/index.ts';
import { Completion, Opcode, RemoteMemory, openDevice } from '../../lib/index.ts';
import { makePair } from './connected.ts';

// One device for all: what is refused changes nothing.
const board = new (loadAddon().EmulatedBoard)({ progress: 'stepped', queuePairs: 64 });
const context = openDevice(board.open(0));
const protectionDomain = context.createProtectionDomain();
const completionQueue = context.createCompletionQueue();
const verbs = { board, context, protectionDomain, completionQueue };
const [{ queuePair }] = makePair(verbs);
const connection = new Connection(context);
connection.connect(connection.address);
const region = protectionDomain.allocate(4096);
const gather = [region.slice(0, 8)];
const remote = region.remote();
const both = { sendCompletionQueue: completionQueue, receiveCompletionQueue: completionQueue };
const { send, sendWithImmediate, rdmaWrite, atomicFetchAndAdd, atomicCompareAndSwap } = Opcode;

/** What the compiler would refuse. */
const any = (value: unknown): never => value as never;
const post = (request: unknown): void => queuePair.postSend(any(request));

/** Wrong arguments: what they are given to, the error, and its message. */
const wrong: readonly (readonly [string, () => unknown, string, RegExp])[] = [
  ['a device that is none', () => openDevice(any(5)), 'TypeError', /device string, or a function of a board/],
  ['no device', () => openDevice(any(null)), 'TypeError', /device string/],
  ['a port that there is not', () => context.queryPort(0), 'EINVAL', /there is no port 0/],
  ['half a port', () => context.queryPort(1.5), 'EINVAL', /there is no port 1.5/],
  ['a GID that there is not', () => context.queryGid(1, 99), 'RangeError', /0 to 15, not 99/],
  ['no completions', () => context.createCompletionQueue({ entries: 0 }), 'EINVAL', /1 to 32768.*not 0/],
  ['no memory', () => protectionDomain.allocate(0), 'RangeError', /at least 1/],
  ['less than no memory', () => protectionDomain.allocate(-1), 'RangeError', /whole number from 0/],
  ['memory by name', () => protectionDomain.allocate(any('5')), 'TypeError', /must be a number/],
  ['more memory than there is', () => protectionDomain.allocate(2 ** 40), 'ENOMEM', /no memory is left/],
  ['rights that there are not', () => protectionDomain.allocate(5, 256), 'RangeError', /0 to 255, not 256/],
  ['rights by name', () => protectionDomain.allocate(5, any('all')), 'TypeError', /whole number, not all/],
  [
    'no completion queue',
    () => protectionDomain.createQueuePair(any({ type: 'RC', sendCompletionQueue: completionQueue })),
    'TypeError',
    /each a CompletionQueue/,
  ],
  [
    'another object as completion queue',
    () =>
      protectionDomain.createQueuePair({ type: 'RC', ...both, sendCompletionQueue: any(protectionDomain) }),
    'TypeError',
    /each a CompletionQueue/,
  ],
  [
    'a service that there is not',
    () => protectionDomain.createQueuePair({ type: any('RD'), ...both }),
    'EINVAL',
    /type of a queue pair must be RC/,
  ],
  [
    'a level that there is not',
    () => protectionDomain.createQueuePair({ type: 'RC', ...both, level: any(5) }),
    'EINVAL',
    /level of a queue pair must be a QualityOfServiceLevel/,
  ],
  ...[-1, 1.5, 2 ** 32, 'secret'].map(
    (checksumSecret) =>
      [
        `${checksumSecret} as a secret`,
        () => protectionDomain.createQueuePair({ type: 'RC', ...both, checksumSecret: any(checksumSecret) }),
        'EINVAL',
        /checksumSecret of a queue pair must be an integer of 32 bits/,
      ] as const,
  ),
  ['a state by name', () => queuePair.modify({ state: any('init') }), 'EINVAL', /cannot go to state init/],
  [
    'an attribute that there is not',
    () => queuePair.modify(any({ nothing: 1 })),
    'EINVAL',
    /does not take nothing/,
  ],
  ['an operation that there is not', () => post({ opcode: 99 }), 'EINVAL', /opcode 99 is not an operation/],
  ['an operation by name', () => post({ opcode: 'send' }), 'EINVAL', /opcode send is not an operation/],
  ['a region for a slice', () => post({ opcode: send, gather: [region] }), 'TypeError', /region.slice\(\)/],
  ['a slice for a list', () => post({ opcode: send, gather: gather[0] }), 'TypeError', /is a list of them/],
  ['a list with holes', () => post({ opcode: send, gather: [undefined] }), 'TypeError', /gather\[0\]/],
  [
    'a slice that is too long',
    () => post({ opcode: send, gather: [{ ...gather[0], length: 2 ** 32 }] }),
    'RangeError',
    /gather\[0\] has 4294967296 B/,
  ],
  [
    'inline data and a list',
    () => post({ opcode: send, gather, inlineData: new Uint8Array(8) }),
    'EINVAL',
    /has inlineData and gather. Expected: one of them/,
  ],
  ['inline text', () => post({ opcode: send, inlineData: 'text' }), 'TypeError', /is a Uint8Array/],
  ['inline numbers', () => post({ opcode: send, inlineData: [1, 2] }), 'TypeError', /is a Uint8Array/],
  [
    'a buffer inline',
    () => post({ opcode: send, inlineData: new ArrayBuffer(8) }),
    'TypeError',
    /Uint8Array/,
  ],
  ['words inline', () => post({ opcode: send, inlineData: new Uint32Array(2) }), 'TypeError', /Uint8Array/],
  ['no immediate data', () => post({ opcode: sendWithImmediate }), 'EINVAL', /has no immediate data/],
  [
    'immediate data below 0',
    () => post({ opcode: sendWithImmediate, immediateData: -1 }),
    'RangeError',
    /32 bits, 0 to 2\^32 - 1, not -1/,
  ],
  [
    'immediate data of 33 bits',
    () => post({ opcode: sendWithImmediate, immediateData: 2 ** 32 }),
    'RangeError',
    /not 4294967296/,
  ],
  [
    'a wrId by name',
    () => post({ opcode: send, wrId: 'x' }),
    'TypeError',
    /wrId is a number or a bigint, not x/,
  ],
  ['a wrId below 0', () => post({ opcode: send, wrId: -1 }), 'RangeError', /from 0 to 2\^53 - 1/],
  ['a wrId of 65 bits', () => post({ opcode: send, wrId: 2n ** 64n }), 'RangeError', /from 0 to 2\^64 - 1/],
  [
    'a slice for memory of the peer',
    () => post({ opcode: rdmaWrite, gather, remote: { ...gather[0] } }),
    'TypeError',
    /a RemoteMemory, as region.remote\(\) gives it/,
  ],
  [
    'an operand that is no bigint',
    () => post({ opcode: atomicFetchAndAdd, gather, remote, compareAdd: 1 }),
    'EINVAL',
    /no operand. Expected: a bigint/,
  ],
  [
    'a new value that is no bigint',
    () => post({ opcode: atomicCompareAndSwap, gather, remote, compareAdd: 1n, swap: 1 }),
    'EINVAL',
    /no new value. Expected: a bigint/,
  ],
  [
    'a region to receive into',
    () => queuePair.postReceive({ scatter: [any(region)] }),
    'TypeError',
    /scatter\[0\] is no slice of a memory region/,
  ],
  [
    'no list to poll into',
    () => completionQueue.poll(any(new Completion())),
    'TypeError',
    /array of Completion/,
  ],
  ['a number to poll', () => completionQueue.poll(any(5)), 'TypeError', /array of Completion/],
  [
    'an address by name',
    () => new RemoteMemory({ address: any('x'), key: 1, length: 1 }),
    'TypeError',
    /not x/,
  ],
  [
    'a key by name',
    () => new RemoteMemory({ address: 1, key: any('1'), length: 1 }),
    'RangeError',
    /32 bits/,
  ],
  [
    'an offset by name',
    () => region.slice(any('1')),
    'RangeError',
    /must be whole numbers within the 4096 B/,
  ],
  ['a slice beyond the end', () => region.slice(4000, 97), 'RangeError', /within the 4096 B/],
  ['an address without a GID', () => connection.connect(any({})), 'TypeError', /32 hexadecimal digits/],
  ['a wait of no number', () => completionQueue.wait({ timeout: any('1s') }), 'TypeError', /milliseconds/],
  ['a wait of NaN', () => completionQueue.wait({ timeout: Number.NaN }), 'RangeError', /0 or more, not NaN/],
  ['a wait below 0', () => completionQueue.wait({ timeout: -5 }), 'RangeError', /0 or more, not -5/],
  [
    'a controller for its signal',
    () => completionQueue.wait({ signal: any(new AbortController()) }),
    'TypeError',
    /signal is an AbortSignal/,
  ],
  ['kicks for less than no time', () => context.kicks({ timeout: -1 }).next(), 'RangeError', /0 or more/],
  ['text to send', () => connection.send(any('text')), 'TypeError', /a list of them, or a Uint8Array/],
  ['a region to send', () => connection.send(any(region)), 'TypeError', /no slice of a memory region/],
  ['a region to receive', () => connection.receive(any(region)), 'TypeError', /no slice of a memory region/],
  [
    'a wait of a connection below 0',
    () => connection.send(new Uint8Array(1), { timeout: -1 }),
    'RangeError',
    /0 or more/,
  ],
];

describe('wrong arguments are refused, and by what is wrong with them', () => {
  it.each(wrong)('%s', async (_, use, kind, message) => {
    const error = (await (async () => use())().catch((reason: unknown) => reason)) as Error & {
      code?: string;
    };
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code]).toContain(kind);
    expect(error.message).toMatch(message);
  });

  it('and leave everything as it was', () => {
    expect(queuePair.driver.sendQueue.outstanding).toBe(0);
    expect(queuePair.driver.receiveQueue!.outstanding).toBe(0);
    queuePair.postSend({ opcode: rdmaWrite, gather, remote, wrId: 5, signaled: true });
    const completion = new Completion();
    while (completionQueue.poll([completion]) === 0);
    expect(completion.wrId).toBe(5);
  });
});
