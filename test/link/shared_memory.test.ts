import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, type TestContext } from 'vitest';

import type { BoardFunction, BoardOptions, EmulatedBoard, Progress } from '../../lib/board/addon.ts';
import {
  engine,
  job,
  makeBoard,
  openFunction,
  pattern,
  registerBar,
  registerOffset,
  startJob,
  vcbBar,
} from '../helpers/register_file_board.ts';
import { backends } from '../helpers/backends.ts';
import { Random } from '../helpers/random.mjs';
import { testAddonPath } from '../helpers/test_addon.ts';
import { requireTool, toolEnvironment } from '../helpers/tools.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';
import { playBothWays } from '../helpers/random_connections.ts';

const packetBytes = 64;
const children: ChildProcess[] = [];

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => end(child)));
});

let names = 0;
const newName = (): string => `test ${process.pid} ${(names += 1)}`;

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const register = (of: BoardFunction, offset: number): number =>
  of.read32(registerBar, registerOffset(0, offset));

/** Drives `driven` and runs the event loop until `done`. */
async function until(driven: BoardFunction, done: () => boolean): Promise<void> {
  const givenUp = performance.now() + 30_000;
  while (!done()) {
    if (performance.now() > givenUp) throw new Error('what the test waits for does not happen');
    driven.advance();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A frame to the first port of the board with this number. */
function frameTo(boardNumber: number): Uint8Array {
  const bytes = pattern(packetBytes, boardNumber);
  bytes.set([0x02, 0xf0, 10, 0, boardNumber, 1]);
  return bytes;
}

function send(from: BoardFunction, packet: Uint8Array): void {
  new Uint32Array(packet.buffer).forEach((word, index) => from.write32(vcbBar, 4 * index, word));
  startJob(from, 0, job.sendPacket, { bytes: packetBytes });
}

/** Starts the other end in a child process, which sends `count` packets to board 0. */
function startEnd(link: string, count: number, progress: Progress = 'shared'): ChildProcess {
  const at = (offset: number): number => registerOffset(0, offset);
  const setup = {
    addonPath: testAddonPath(),
    options: { link, progress },
    registers: {
      vcbBar,
      bar: registerBar,
      start: at(engine.start),
      bytes: at(engine.bytes),
      sent: at(engine.sent),
      received: at(engine.received),
      sendPacket: job.sendPacket,
    },
    packet: [...frameTo(0)],
    count,
  };
  const worker = fileURLToPath(new URL('end_worker.mjs', import.meta.url));
  const child = fork(worker, [JSON.stringify(setup)], { execArgv: [] });
  children.push(child);
  return child;
}

function makeEnd(options: BoardOptions): { board: EmulatedBoard; opened: BoardFunction } {
  const board = makeBoard(options);
  return { board, opened: openFunction(board) };
}

describe('a shared-memory link', () => {
  it.each<[Progress, Progress]>([
    ['shared', 'shared'],
    ['own', 'shared'],
    ['own', 'own'],
  ])(
    'carries packets both ways between a board with progress %s and one with %s of another process',
    async (one, other) => {
      const link = `shm:${newName()}`;
      const packets = 500;
      const { opened, board } = makeEnd({ link, progress: one });
      const child = startEnd(link, packets, other);
      await until(opened, () => register(opened, engine.received) === packets);
      expect(board.boardNumber()).toBe(0);
      for (let sent = 0; sent < packets; sent += 1) send(opened, frameTo(1));
      await until(opened, () => register(opened, engine.sent) === packets);
      let taken = 0;
      child.on('message', (count) => {
        if (typeof count === 'number') taken = count;
      });
      await until(opened, () => {
        child.send('count');
        return taken === packets;
      });
    },
  );

  it('survives the death of an end in the middle of a message, and accepts a new end', async () => {
    const link = `shm:${newName()}`;
    const { opened } = makeEnd({ link, progress: 'shared' });
    for (let life = 0; life < 3; life += 1) {
      const before = register(opened, engine.received);
      const child = startEnd(link, Number.MAX_SAFE_INTEGER);
      await until(opened, () => register(opened, engine.received) > before + 1000);
      await end(child);
      const faults = register(opened, engine.faults);
      await until(opened, () => {
        send(opened, frameTo(1));
        return register(opened, engine.faults) > faults;
      });
    }
  });

  it('delivers the packets that an end sent before it closed', async () => {
    const name = newName();
    const { opened, board } = makeEnd({ link: `shm:${name}`, progress: 'stepped' });
    const child = startEnd(`shm:${name}`, 5);
    await once(child, 'message');
    await end(child);
    // This process has seen the other end close: only the listening socket is left.
    const sockets = (): number =>
      readFileSync('/proc/net/unix', 'utf8')
        .split('\n')
        .filter((line) => line.endsWith(`/${name}`)).length;
    while (sockets() > 1) await new Promise((resolve) => setImmediate(resolve));
    expect(register(opened, engine.received)).toBe(0);
    board.runUntilIdle();
    expect(register(opened, engine.received)).toBe(5);
  });

  it('takes over listening when the listening end has closed', async () => {
    const link = `shm:${newName()}`;
    const first = startEnd(link, 0);
    await once(first, 'message');
    const { opened, board } = makeEnd({ link, progress: 'shared' });
    expect(board.boardNumber()).toBe(1);
    await end(first);
    const second = startEnd(link, 0);
    await until(opened, () => {
      send(opened, frameTo(0));
      return register(opened, engine.sent) > 0;
    });
    await end(second);
  });

  it('has two ends with different board numbers', () => {
    const link = `shm:${newName()}`;
    makeBoard({ link, boardNumber: 3 });
    expect(() => makeBoard({ link, boardNumber: 3 })).toThrow(
      `link ${link}: the board at its other end has boardNumber 3; use another one`,
    );
    expect(makeBoard({ link }).boardNumber()).toBe(0);
    expect(() => makeBoard({ link })).toThrow(`link ${link}: it already has two ends; use another name`);
  });

  it.each([
    [
      { link: 'wire' },
      'link wire: links are shm:NAME, host:NAME, and on Ethernet udp:ADDRESS and ethernet:PATH,PATH',
    ],
    [{ link: 'shm:' }, 'link shm:: links are shm:NAME'],
    [{ link: 'shm:x', fabric: 'y' }, 'a board has a fabric or a link, not both'],
  ])('refuses %j', (options, message) => {
    expect(() => makeBoard(options)).toThrow(message);
  });

  it('carries connections', async () => {
    const link = `shm:${newName()}`;
    const shared = backends.find(({ options }) => options.progress === 'shared')!;
    const sides = [makeVerbs(shared, { link }), makeVerbs(shared, { link })] as const;
    await playBothWays(new Random(5), 60, sides);
  });
});

/** The process state as in /proc; T: stopped. */
function stateOf({ pid }: ChildProcess): string | undefined {
  return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

/** Starts an intruder, and returns the lines that it prints. */
function intrude(context: TestContext, ...words: string[]): { next: () => Promise<string> } {
  const child = spawn(
    requireTool('python3', context),
    [fileURLToPath(new URL('intruder.py', import.meta.url)), ...words],
    { env: toolEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  children.push(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return { next: async () => String((await lines.next()).value) };
}

describe('an untrusted end of a link', () => {
  it.for([1, 2, 3])('can write garbage without harming the other process: seed %i', async (seed, context) => {
    const name = newName();
    const link = `shm:${name}`;
    const { opened } = makeEnd({ link, progress: 'shared' });
    const intruder = intrude(context, 'writes', name, String(seed));
    expect(await intruder.next()).toBe('ready');
    let isDone = false;
    const watch = async (): Promise<void> => {
      await intruder.next();
      isDone = true;
    };
    const watching = watch();
    await until(opened, () => {
      send(opened, frameTo(9));
      return isDone;
    });
    await watching;
    const before = register(opened, engine.received);
    const child = startEnd(link, 10);
    await once(child, 'message');
    await until(opened, () => register(opened, engine.received) === before + 10);
  });

  it('can send a meaningless greeting, and another end may connect', async (context) => {
    const name = newName();
    const { opened } = makeEnd({ link: `shm:${name}`, progress: 'shared' });
    const intruder = intrude(context, 'silent', name, '1');
    expect(await intruder.next()).toBe('ready');
    expect(await intruder.next()).toBe('done');
    const child = startEnd(`shm:${name}`, 1);
    await once(child, 'message');
    await until(opened, () => register(opened, engine.received) === 1);
  });

  it.for(['alone', 'welcomed'])('can leave (%s), and another end may connect', async (how, context) => {
    const name = newName();
    const intruder = intrude(context, 'leaves', name, '1', how);
    expect(await intruder.next()).toBe('ready');
    const { opened, board } = makeEnd({ link: `shm:${name}`, progress: 'shared' });
    expect(board.boardNumber()).toBe(0);
    const child = startEnd(`shm:${name}`, 1);
    await once(child, 'message');
    await until(opened, () => register(opened, engine.received) === 1);
  });

  it('can connect often in silence, and the other end connects at once', async (context) => {
    const name = newName();
    const { opened } = makeEnd({ link: `shm:${name}`, progress: 'shared' });
    const intruder = intrude(context, 'half', name, '1', '30', name);
    expect(await intruder.next()).toBe('ready');
    const { opened: other } = makeEnd({ link: `shm:${name}`, progress: 'shared' });
    send(other, frameTo(0));
    await until(opened, () => register(opened, engine.received) === 1);
  });

  // If each end waited for the greeting of a slow process, together they would exceed the time limit.
  it('can connect in silence without delaying the closing of a link', async (context) => {
    const own = Array.from({ length: 30 }, newName);
    const ends = own.map((name) => makeEnd({ link: `shm:${name}`, progress: 'shared' }));
    const intruder = intrude(context, 'half', own[0]!, '1', '1', ...own);
    expect(await intruder.next()).toBe('ready');
    for (const { opened, board } of ends) {
      opened.close();
      board.close();
    }
  });

  it('can pass descriptors, and none of them stays open', async (context) => {
    const name = newName();
    const { opened } = makeEnd({ link: `shm:${name}`, progress: 'shared' });
    const intruder = intrude(context, 'descriptors', name, '1');
    expect(await intruder.next()).toBe('ready');
    const { opened: other } = makeEnd({ link: `shm:${name}`, progress: 'shared' });
    send(other, frameTo(0));
    await until(opened, () => register(opened, engine.received) === 1);
    const unwanted = readdirSync('/proc/self/fd').filter((each) => {
      try {
        return readlinkSync(`/proc/self/fd/${each}`).includes('unwanted');
      } catch {
        return false; // the descriptor of the folder itself
      }
    });
    expect(unwanted).toEqual([]);
  });

  it('can request wake-ups and ignore them without delaying the sender', async (context) => {
    const packets = 500; // more than a socket and a ring hold
    const name = newName();
    const { opened } = makeEnd({ link: `shm:${name}`, progress: 'shared' });
    const intruder = intrude(context, 'deaf', name, '1');
    expect(await intruder.next()).toBe('ready');
    for (let sent = 1; sent <= packets; sent += 1) {
      send(opened, frameTo(1));
      await until(opened, () => register(opened, engine.sent) === sent);
    }
  });

  it('can stop, and only packets to it wait', async () => {
    const slots = 64;
    const name = newName();
    const { opened } = makeEnd({ link: `shm:${name}`, progress: 'shared' });
    const child = startEnd(`shm:${name}`, 1);
    await once(child, 'message');
    child.kill('SIGSTOP');
    await until(opened, () => stateOf(child) === 'T');
    for (let sent = 0; sent < slots + 2; sent += 1) send(opened, frameTo(1));
    await until(opened, () => register(opened, engine.sent) === slots);
    child.kill('SIGCONT');
    await until(opened, () => register(opened, engine.sent) === slots + 2);
  });

  it.for(['64', '2000000'])('is refused if its memory is not sealed (%s B)', async (bytes, context) => {
    const name = newName();
    const intruder = intrude(context, 'listens', name, '1', bytes);
    expect(await intruder.next()).toBe('ready');
    expect(() => makeBoard({ link: `shm:${name}` })).toThrow('the other end is not a board of this version');
  });
});
