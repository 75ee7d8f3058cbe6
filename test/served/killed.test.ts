import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import { closing, newSocket } from '../helpers/backends.ts';
import { connectPair, exchange, open, serve, untilOpen } from './serving.ts';

const children: ChildProcess[] = [];

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => kill(child)));
});

function start(program: string, ...words: string[]): ChildProcess {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), words, { execArgv: [] });
  children.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function startServer(path: string): Promise<ChildProcess> {
  const server = start('server_program.mjs', path);
  const ended = once(server, 'exit').then(() => {
    throw new Error('the server ended before it served');
  });
  await Promise.race([once(server, 'message'), ended]);
  ended.catch(() => undefined);
  return server;
}

const gone = expect.objectContaining({ code: 'ENODEV' }) as unknown;

describe('a process that is killed', () => {
  it('if it is a client in the middle of its messages, leaves its function free and the others undisturbed', async () => {
    const serving = serve({ queuePairs: 64, pageTableEntries: 4096, memoryKeys: 256 });
    const pair = connectPair(open(`serve:${serving.path}/1`), open(`serve:${serving.path}/2`));
    for (let life = 1; life <= 3; life += 1) {
      const client = start('client_program.mjs', `serve:${serving.path}/3`);
      for (let hundreds = 0; hundreds < life; hundreds += 1) await once(client, 'message');
      await exchange(pair, life);
      await kill(client);
      await untilOpen(serving, [1, 2]);
      await exchange(pair, life + 10);
    }
    expect(serving.served.takeNotices().filter(({ kind }) => kind === 'closed')).toHaveLength(3);
  });

  it('if it is the server, fails all waits of its clients, and another server can take its place', async () => {
    const path = newSocket();
    const server = await startServer(path);
    const context = open(`serve:${path}/1`);
    const [from, to] = connectPair(context, context);
    await exchange([from, to], 5);
    const raw = closing(loadAddon().openServed(path, 2));
    const memory = raw.allocateMemory(4096);
    const received = expect(to.receive(to.allocate(64).slice())).rejects.toThrow(gone);
    const waited = expect(context.createCompletionQueue().wait()).rejects.toThrow(gone);
    await kill(server);
    await Promise.all([received, waited]);
    expect(() => context.queryPort()).toThrow(gone);
    expect(raw.read32(0, 0)).toBe(0xffff_ffff);
    for (let each = 0; each < 5000; each += 1) raw.write32(2, 0, each);
    new Uint8Array(memory.buffer).fill(1);
    expect(() => raw.allocateMemory(4096)).toThrow('the server of the board is gone');
    expect(() => open(`serve:${path}/3`)).toThrow('no server serves a board there');
    await startServer(path);
    const again = open(`serve:${path}/1`);
    await exchange(connectPair(again, again), 6);
  });
});
