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

/** Polls until the last command is complete, and clears what they have written. */
function settle(): void {
  const deadline = Date.now() + 20_000;
  while (client.verbs.completionQueue.poll(completions) === 0) expect(Date.now()).toBeLessThan(deadline);
  expect(completions[0]).toMatchObject({ status: CompletionStatus.success });
  remote.data.fill(0);
}

/** Posts commands that are left. At other times the thread runs them at once for a while: after a single one, or after a late one. */
function leave(count: number, more?: Partial<SendRequest>, prepare?: () => void): void {
  for (let tries = 0; tries < 2000; tries++) {
    prepare?.();
    post(count, more);
    if (written() === 0) return;
    settle();
  }
  expect.unreachable('no command is left');
}

/** Expects that most rounds succeed: in others the board's thread has the device, because the process lost its CPU meanwhile. */
async function expectMost(round: () => boolean | Promise<boolean>): Promise<void> {
  const rounds = 20;
  let succeeded = 0;
  for (let i = 0; i < rounds; i++) {
    if (await round()) succeeded++;
    settle();
  }
  expect(succeeded).toBeGreaterThan(rounds / 2);
}

it('the sixteenth command runs them all', async () => {
  await expectMost(() => {
    leave(commandsOfOneCall - 1);
    post(1, { signaled: false });
    return written() === commandsOfOneCall - 1;
  });
});

it('a poll of the peer runs them, and finds what they bring', async () => {
  const receives = server.verbs.completionQueue;
  const prepare = (): void => {
    while (receives.poll(completions) > 0);
    server.queuePair.postReceive([{}, {}, {}]);
  };
  await expectMost(() => {
    leave(3, { opcode: Opcode.rdmaWriteWithImmediate, immediateData: 7 }, prepare);
    return receives.poll(completions) === 3;
  });
});

it('a fault that is injected afterwards does not hit them', async () => {
  await expectMost(() => {
    leave(3);
    const fault = client.verbs.board.inject({ kind: 'drop', count: 0 });
    const ran = written() === 3;
    client.verbs.board.clearFaults(fault);
    return ran;
  });
});

it('they run before the event loop waits', async () => {
  await expectMost(async () => {
    leave(3);
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    return written() === 3;
  });
});

it('a program that polls its memory waits for the thread of the board once', async () => {
  const deadline = Date.now() + 20_000;
  await expectMost(() => {
    leave(3);
    while (written() < 3 && Date.now() < deadline); // keeps the event loop from running the board
    settle();
    post(1);
    return written() === 1;
  });
});
