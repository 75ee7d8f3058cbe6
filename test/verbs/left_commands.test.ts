// A thread that posts several commands leaves them to its next call: the sixteenth, a poll of any board, a change of the device, the end of
// its turn of the event loop.
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';

import {
  Completion,
  CompletionStatus,
  Opcode,
  RemoteMemory,
  type MemoryRegion,
  type SendRequest,
} from '../../lib/index.ts';
import { makeMemory, makePair, type End } from '../helpers/connected.ts';
import { backends } from '../helpers/backends.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

const shared = backends.find(({ options }) => options.progress === 'shared')!;
const commandsOfOneCall = 16;
const bytes = 64;

let client: End;
let server: End;
let gather: MemoryRegion;
let remote: { readonly region: MemoryRegion; readonly data: Uint8Array };

beforeEach(() => {
  const fabric = randomUUID();
  [client, server] = makePair(makeVerbs(shared, { fabric }), {}, makeVerbs(shared, { fabric }));
  gather = makeMemory(client, bytes, 1).region;
  remote = makeMemory(server, commandsOfOneCall * bytes);
  remote.data.fill(0);
});

const completions = Array.from({ length: commandsOfOneCall }, () => new Completion());

/** Posts commands one by one, each a WRITE to its own part of the peer's memory; the last one is signaled. */
function post(count: number, more: Partial<SendRequest> = {}): void {
  const { address, key } = remote.region.remote();
  for (let i = 0; i < count; i++)
    client.queuePair.postSend({
      opcode: Opcode.rdmaWrite,
      gather: [gather.slice()],
      remote: new RemoteMemory({ address: address + BigInt(i * bytes), key, length: bytes }),
      signaled: i === count - 1,
      ...more,
    });
}

/** Commands that have written their part. */
const written = (): number =>
  Array.from({ length: commandsOfOneCall }, (_, i) => remote.data[i * bytes]).filter((byte) => byte !== 0)
    .length;

/** Repeats, because a thread of the board may run what it should not: the first posts of a process are slow. */
async function rounds(count: number, run: () => void | Promise<void>): Promise<void> {
  for (let round = 0; round < 100; round++) {
    remote.data.fill(0);
    post(count);
    await run();
    expect(written()).toBe(count);
    expect(client.verbs.completionQueue.poll(completions)).toBe(1);
    expect(completions[0]).toMatchObject({ status: CompletionStatus.success });
  }
}

it('the sixteenth command runs them all', async () => {
  await rounds(commandsOfOneCall, () => {});
});

it('a poll of the peer runs them', () => {
  server.queuePair.postReceive([{}, {}, {}]);
  post(3, { opcode: Opcode.rdmaWriteWithImmediate, immediateData: 7 });
  expect(server.verbs.completionQueue.poll(completions)).toBe(3);
});

it('a change of the queue pair comes after them', () => {
  post(3);
  client.queuePair.close();
  expect(written()).toBe(3);
});

it('they run before the event loop waits', async () => {
  await rounds(3, async () => {
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
  });
});
