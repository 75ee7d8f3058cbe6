import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { describe, expect, it } from 'vitest';

import type { BoardOptions } from '../../lib/board/addon.ts';
import { loadAddon } from '../../lib/board/addon.ts';
import { testAddonPath } from '../helpers/test_addon.ts';
import { magic, makeBoard, openFunction, pageBytes, vcbBar } from '../helpers/register_file_board.ts';

const worker = fileURLToPath(new URL('board_worker.mjs', import.meta.url));
const modes = ['shared', 'own', 'stepped'] as const;

function threads(): number {
  return readdirSync('/proc/self/task').length;
}

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Memory mappings of the process. */
function mappings(): number {
  return readFileSync('/proc/self/maps', 'utf8').split('\n').length;
}

/** Waits until a figure has fallen to `most`: the event loop closes handles and collects objects with a delay. */
async function settles(figure: () => number, most: number): Promise<void> {
  for (let turn = 0; turn < 10_000 && figure() > most; turn++) await new Promise(setImmediate);
  expect(figure()).toBeLessThanOrEqual(most);
}

describe.each(modes)('progress %s', (progress) => {
  it('closing a thousand boards leaves no thread, descriptor or mapping', async () => {
    const before = { threads: threads(), descriptors: descriptors(), mappings: mappings() };
    for (let i = 0; i < 1000; i++) {
      const board = makeBoard({ progress });
      const opened = openFunction(board, i % 2);
      const memory = opened.allocateMemory(3 * pageBytes);
      opened.interrupt(i % 8, () => undefined).ref();
      opened.map(new Uint8Array(100));
      opened.commandWriter(memory, vcbBar).write(0, 0, 64);
      opened.close();
      board.close();
      if (i % 100 === 0) await new Promise(setImmediate);
    }
    await settles(threads, before.threads);
    await settles(descriptors, before.descriptors);
    await settles(mappings, before.mappings + 50);
  });

  it.each(['waits', 'posts'] as const)(
    'terminating a worker that %s leaves no thread or descriptor',
    async (way) => {
      const before = { threads: threads(), descriptors: descriptors() };
      for (let i = 0; i < 5; i++) {
        const running = new Worker(worker, {
          workerData: { addonPath: testAddonPath(), options: { progress }, way },
        });
        await once(running, 'message');
        await running.terminate();
      }
      await settles(threads, before.threads);
      await settles(descriptors, before.descriptors);
    },
  );

  it('a process exits with everything open, by process.exit() or by reaching its end', () => {
    for (const [way, status] of [
      ['exits', 7],
      ['ends', 0],
    ] as const) {
      const argument = JSON.stringify({ addonPath: testAddonPath(), options: { progress }, way });
      const ended = spawnSync(process.execPath, [worker, argument], { timeout: 60_000, encoding: 'utf8' });
      expect([ended.status, ended.signal, ended.stderr]).toEqual([status, null, '']);
    }
  });
});

describe('a named board', () => {
  it("is shared with a worker, and survives the worker's termination", async () => {
    const { EmulatedBoard } = loadAddon();
    const options: BoardOptions = { name: 'lifecycle', progress: 'shared' };
    const board = new EmulatedBoard(options);
    const opened = board.open(0);
    const running = new Worker(worker, {
      workerData: { addonPath: process.env['FPGA_VERBS_ADDON'] ?? builtAddon(), options, way: 'posts' },
    });
    await once(running, 'message');
    const reads = board.counters().reads;
    while (board.counters().reads < reads + 1000) expect(opened.read32(0, 0)).toBe(magic);
    await running.terminate();
    expect(opened.read32(0, 0)).toBe(magic);
    opened.close();
    board.close();
  });
});

function builtAddon(): string {
  return fileURLToPath(new URL('../../build/Release/fpga_verbs.node', import.meta.url));
}
