// Every link, with every progress at both ends, and every way of waiting there. Nothing repairs a device that sleeps while there is
// something for it: no acknowledgement timer runs, and each message has a deadline that a device which is stuck does not meet.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import type { BoardOptions, Progress } from '../../lib/board/addon.ts';
import { Connection } from '../../lib/connect/index.ts';
import {
  Completion,
  CompletionError,
  CompletionStatus,
  Opcode,
  PortState,
  RemoteMemory,
} from '../../lib/index.ts';
import { backends, closing } from '../helpers/backends.ts';
import { Random } from '../helpers/random.mjs';
import { freeNetwork } from '../helpers/free_port.ts';
import { makeVerbs, type Verbs } from '../helpers/make_verbs.ts';

/** How an end gets its completions. A `passive` end makes no call; the other end writes and reads its memory. */
type Way = 'polls' | 'waits' | 'passive';

const messages = 24;
const messageBytes = 64;
/** Milliseconds; long enough for a busy machine. */
const deadline = 10_000;
const turnsOfGap = 12; // of the event loop, at most
const pollsPerTurn = 16;

const { options: emulated } = backends[0]!;
let names = 0;
const newName = (): string => `wakeups-${process.pid}-${(names += 1)}`;
/** Addresses that no other test on this machine uses. */
const network = await freeNetwork();
let addresses = 0;
const newAddress = (): string => `${network}${(addresses += 1)}`;

function newPath(): string {
  const made = path.join(tmpdir(), newName());
  closing({ close: () => rmSync(made, { force: true }) });
  return made;
}

/** The options of both ends; a single entry means one board in loopback. */
const links: Readonly<Record<string, () => readonly BoardOptions[]>> = {
  loopback: () => [{}],
  fabric: () => {
    const fabric = newName();
    return [{ fabric }, { fabric }];
  },
  shm: () => {
    const link = `shm:${newName()}`;
    return [{ link }, { link }];
  },
  host: () => {
    const link = `host:${newName()}`;
    return [{ link }, { link }];
  },
  udp: () => [{ link: `udp:${newAddress()}` }, { link: `udp:${newAddress()}` }],
  ethernet: () => {
    const [a, b] = [newPath(), newPath()];
    return [
      { link: `ethernet:${a},${b}`, boardNumber: 0 },
      { link: `ethernet:${b},${a}`, boardNumber: 1 },
    ];
  },
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Pauses for some turns of the event loop, during which the device's thread falls asleep. */
async function pause(random: Random): Promise<void> {
  for (let left = random.below(turnsOfGap); left > 0; left -= 1) await turn();
}

class End {
  readonly connection: Connection;
  readonly memory;
  private readonly completion = new Completion();
  private readonly way: Way;

  constructor({ context }: Verbs, way: Way) {
    // Without a timeout, no retry hides a lost wake-up.
    this.connection = closing(new Connection(context, { timeout: 0 }));
    this.memory = this.connection.allocate(2 * messageBytes);
    this.way = way;
  }

  /** The next completion, by polling or waiting. */
  async next(): Promise<Completion> {
    const { completionQueue } = this.connection;
    const since = performance.now();
    for (let polls = 1; completionQueue.poll([this.completion]) === 0; polls += 1) {
      if (this.way === 'waits') await completionQueue.wait({ timeout: deadline });
      else if (polls % pollsPerTurn === 0) await turn();
      if (performance.now() - since > deadline) throw new Error('a message is stuck');
    }
    if (this.completion.status !== CompletionStatus.success) throw new CompletionError(this.completion);
    return this.completion;
  }

  async completions(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) await this.next();
  }

  postReceive(): void {
    this.connection.queuePair.postReceive({ scatter: [this.memory.slice(messageBytes, messageBytes)] });
  }

  postSend(): void {
    this.connection.queuePair.postSend({ opcode: Opcode.send, gather: [this.memory.slice(0, messageBytes)] });
  }
}

/** Exchanges messages both ways: each end gets a receive completion, and the completion of its own send. */
async function exchange(ends: readonly [End, End], random: Random): Promise<void> {
  const [asks, answers] = ends;
  const ask = async (): Promise<void> => {
    for (let index = 0; index < messages; index += 1) {
      asks.memory.bytes.fill(index, 0, messageBytes);
      asks.postReceive();
      await pause(random);
      asks.postSend();
      await asks.completions(2);
      expect([...new Set(asks.memory.bytes.subarray(messageBytes))]).toEqual([index + 1]);
    }
  };
  const answer = async (): Promise<void> => {
    for (let index = 0; index < messages; index += 1) {
      await answers.next();
      if (index + 1 < messages) answers.postReceive();
      expect([...new Set(answers.memory.bytes.subarray(messageBytes))]).toEqual([index]);
      answers.memory.bytes.fill(index + 1, 0, messageBytes);
      await pause(random);
      answers.postSend();
      await answers.next();
    }
  };
  answers.postReceive();
  await Promise.all([ask(), answer()]);
}

/** One end writes and reads the memory of the other, whose program makes no call. */
async function reach([active, passive]: readonly [End, End], random: Random): Promise<void> {
  const { queuePair } = active.connection;
  const [own, read] = [active.memory.slice(0, messageBytes), active.memory.slice(messageBytes, messageBytes)];
  const { address, remoteKey: key } = passive.memory;
  const remote = new RemoteMemory({ address, key, length: messageBytes });
  for (let index = 0; index < messages; index += 1) {
    active.memory.bytes.fill(index + 1, 0, messageBytes);
    await pause(random);
    queuePair.postSend({ opcode: Opcode.rdmaWrite, gather: [own], remote });
    await active.next();
    await pause(random);
    queuePair.postSend({ opcode: Opcode.rdmaRead, gather: [read], remote });
    await active.next();
    expect([...new Set(active.memory.bytes.subarray(messageBytes))]).toEqual([index + 1]);
  }
}

const modes: readonly Progress[] = ['shared', 'own'];
const ways: readonly (readonly [Way, Way])[] = [
  ['polls', 'polls'],
  ['polls', 'waits'],
  ['polls', 'passive'],
  ['waits', 'polls'],
  ['waits', 'waits'],
  ['waits', 'passive'],
];

describe.each(Object.keys(links))('over %s', (link) => {
  const pairs = modes.flatMap((one) =>
    link === 'loopback' ? [[one, one]] : modes.map((other) => [one, other]),
  );
  describe.each(pairs as [Progress, Progress][])('progress %s to %s', (...progress) => {
    it.each(ways)(
      'no message gets stuck if one end %s and the other %s',
      async (...both) => {
        const boards = links[link]!().map((options, index) =>
          // The device's thread sleeps as soon as it is idle.
          makeVerbs(
            { name: '', options: { ...emulated, progress: progress[index]! } },
            { ...options, sleepAfter: 0 },
          ),
        );
        const ends = both.map((way, index) => new End(boards[index] ?? boards[0]!, way)) as unknown as [
          End,
          End,
        ];
        const [a, b] = ends.map(({ connection }) => connection) as [Connection, Connection];
        a.connect(b.address);
        b.connect(a.address);
        for (const { context } of boards)
          while (context.queryPort(1).state !== PortState.active) await turn();
        await (both[1] === 'passive' ? reach : exchange)(ends, new Random(11));
      },
      30_000,
    );
  });
});
