// The threads around an emulated board in all their interleavings (native/test/interleavings), on the source that ships; and with
// one change to it at a time, each of which has to be found.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';

import { requireTool } from '../helpers/tools.ts';

interface Mutant {
  readonly what: string;
  /** In native/board. */
  readonly file: string;
  /** Stands there once. */
  readonly from: string;
  readonly to: string;
  /** The program that it is wrong in, and of which check; default: wakeups_check. */
  readonly program: string;
  readonly check?: string;
}

const mutants: readonly Mutant[] = [
  {
    what: 'a poller that finds a packet sets the note, and wakes nothing',
    file: 'thread_drive.h',
    from: 'wakeups_.note([this] { wakeups_.wake(); });',
    to: 'wakeups_.note([] {});',
    program: 'own, a link and a poller',
  },
  {
    what: 'the thread does not look again after it has announced its sleep',
    file: 'wakeups.h',
    from: 'if (look() >= until)',
    to: 'if (look() >= until || true)',
    program: 'own, a poster',
  },
  {
    what: 'the announcement may be seen late',
    file: 'wakeups.h',
    from: 'asleep_until_.store(until, std::memory_order_seq_cst)',
    to: 'asleep_until_.store(until, std::memory_order_release)',
    program: 'own, a poster',
  },
  {
    what: 'the one that sets the note sees to it first',
    file: 'wakeups.h',
    from: 'if (!noted_.exchange(true, std::memory_order_seq_cst))\n      see_to_it();',
    to: 'see_to_it();\n    noted_.exchange(true, std::memory_order_seq_cst);',
    program: 'own, a link',
  },
  {
    what: 'the note may be seen late',
    file: 'wakeups.h',
    from: 'if (!noted_.exchange(true, std::memory_order_seq_cst))\n      see_to_it();',
    to: 'noted_.store(true, std::memory_order_release);\n    see_to_it();',
    program: 'own, a link',
  },
  {
    what: 'the thread is woken before it is told what is left over',
    file: 'wakeups.h',
    from: 'left_over_.store(due, std::memory_order_seq_cst);\n    wake(due);',
    to: 'wake(due);\n    left_over_.store(due, std::memory_order_seq_cst);',
    program: 'shared, a link',
  },
  {
    what: 'what is left over may be seen late',
    file: 'wakeups.h',
    from: 'left_over_.store(due, std::memory_order_seq_cst);',
    to: 'left_over_.store(due, std::memory_order_relaxed);',
    program: 'shared, a link',
  },
  {
    what: 'the word stays when the thread is woken, so that it sleeps when it comes to it',
    file: 'wakeups.h',
    from: 'if (word_.exchange(0, std::memory_order_seq_cst) != 0)',
    to: 'if (word_.load(std::memory_order_seq_cst) != 0)',
    program: 'own, a poster',
  },
  {
    what: 'an earlier deadline does not wake the thread',
    file: 'wakeups.h',
    from: 'deadline_.store(deadline, std::memory_order_seq_cst);\n    wake(deadline);',
    to: 'deadline_.store(deadline, std::memory_order_seq_cst);',
    program: 'shared, a poster whose message sets a timer',
  },
  {
    what: 'the end of the board may be seen late',
    file: 'wakeups.h',
    from: 'stopped_.store(true, std::memory_order_seq_cst);',
    to: 'stopped_.store(true, std::memory_order_release);',
    program: 'own, an end',
  },
  {
    what: 'the holder of the lock does not look for the ring after unlocking',
    file: 'caller_drive.h',
    from: 'while (ring_.arriving() || wakeups_.noted());',
    to: 'while (wakeups_.noted());',
    program: 'shared, two posters',
  },
  {
    what: 'the holder of the lock does not look for the note after unlocking',
    file: 'caller_drive.h',
    from: 'while (ring_.arriving() || wakeups_.noted());',
    to: 'while (ring_.arriving());',
    program: 'shared, a poster, and a poller that finds a packet',
  },
  {
    what: 'the lock is free for others after its holder has looked',
    file: 'board_lock.h',
    from: 'held_.exchange(false, std::memory_order_acq_rel);',
    to: 'held_.store(false, std::memory_order_release);',
    program: 'shared, two posters',
  },
  {
    what: 'the thread looks for messages that are there, not for those that are claimed',
    file: 'thread_drive.h',
    from: 'ring_.claimed() ||',
    to: 'ring_.arriving() ||',
    program: 'own, a poster',
  },
  {
    what: 'the thread frees the board before it announces its sleep',
    file: 'thread_drive.h',
    from: 'const uint64_t until = device_.next_deadline();',
    to: 'const uint64_t until = device_.next_deadline();\n    lock_.unlock();\n    lock_.lock();',
    program: 'own, a change under the lock',
  },
  {
    what: 'a change under the lock does not wake the thread',
    file: 'thread_drive.h',
    from: 'wakeups_.wake(); // what the caller changed may be due',
    to: '',
    program: 'own, a change under the lock',
  },
  {
    what: 'the writer for observers does not say what it writes over',
    file: 'watch_ring.h',
    from: 'header.begun.store(end, std::memory_order_relaxed);',
    to: '',
    program: 'twice as many',
    check: 'watch_ring_check',
  },
  {
    what: 'words for observers may be seen before it is said that they are written over',
    file: 'watch_ring.h',
    from: 'place(0).store(number << 32 | message.size(), std::memory_order_release);',
    to: 'place(0).store(number << 32 | message.size(), std::memory_order_relaxed);',
    program: 'twice as many',
    check: 'watch_ring_check',
  },
  {
    what: 'the head may be seen before the words of a message for observers',
    file: 'watch_ring.h',
    from: 'header.head.store(end, std::memory_order_release);',
    to: 'header.head.store(end, std::memory_order_relaxed);',
    program: 'as many as there is room for',
    check: 'watch_ring_check',
  },
  {
    what: 'an observer does not look again after it has copied a message',
    file: 'watch_ring.h',
    from: 'if (is_intact())\n      copied.outcome',
    to: 'copied.outcome',
    program: 'twice as many',
    check: 'watch_ring_check',
  },
  {
    what: 'an observer counts what it lost while the writer is about to write',
    file: 'watch_ring.h',
    from: 'if (header_.begun.load(std::memory_order_relaxed) != head)\n      return;',
    to: '(void)head;',
    program: 'one more',
    check: 'watch_ring_check',
  },
];

const native = fileURLToPath(new URL('../../native/', import.meta.url));
const run = promisify(execFile);
const longest = 600_000;
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'interleavings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const flags = ['-std=c++20', '-O1', '-U_FORTIFY_SOURCE', '-Wall', '-Wextra', '-Werror'];

const sources = path.join(native, 'test/interleavings');
let explorer: Promise<string> | undefined;

/** The explorer, compiled once. */
async function compileExplorer(compiler: string): Promise<string> {
  const object = path.join(folder, 'explorer.o');
  await run(compiler, [...flags, '-I', native, '-c', path.join(sources, 'explorer.cpp'), '-o', object]);
  return object;
}

/** Compiles a program of native/test/interleavings, with a folder of changed headers before the others. */
async function compile(context: TestContext, name: string, changed?: string): Promise<string> {
  const compiler = requireTool('g++', context);
  explorer ??= compileExplorer(compiler);
  const program = path.join(changed ?? folder, name);
  const includes = [...(changed === undefined ? [] : ['-I', changed]), '-I', native];
  const source = path.join(sources, `${name}.cpp`);
  await run(compiler, [...flags, ...includes, source, await explorer, '-o', program]);
  return program;
}

/** The output of a program; it is wrong where it says so. */
async function outputOf(program: string, ...names: readonly string[]): Promise<string> {
  const maxBuffer = 2 ** 26;
  return run(program, names, { maxBuffer }).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; code?: unknown }) => {
      if (error.code !== 1 || error.stdout === undefined) throw error;
      return error.stdout;
    },
  );
}

it(
  'no interleaving of the threads around a board loses a wake-up',
  async (context) => {
    const output = await outputOf(await compile(context, 'wakeups_check'));
    const lines = output.trim().split('\n');
    expect(lines.filter((line) => !line.endsWith(': right'))).toEqual([]);
    expect(lines.length).toBeGreaterThan(20);
  },
  longest,
);

it(
  'no interleaving gives an observer what was not written, or hides what it lost',
  async (context) => {
    const output = await outputOf(await compile(context, 'watch_ring_check'));
    const lines = output.trim().split('\n');
    expect(lines.filter((line) => !line.endsWith(': right'))).toEqual([]);
    expect(lines).toHaveLength(3);
  },
  longest,
);

const numbered: (Mutant & { readonly index: number })[] = mutants.map((mutant, index) => ({
  ...mutant,
  index,
}));

describe('a change is found', () => {
  it.for(numbered)(
    '$what',
    { timeout: longest },
    async ({ file, from, to, program, check, index }, context) => {
      const changed = path.join(folder, `changed${index}`);
      mkdirSync(path.join(changed, 'board'), { recursive: true });
      const source = readFileSync(path.join(native, 'board', file), 'utf8');
      expect(source.split(from)).toHaveLength(2);
      writeFileSync(
        path.join(changed, 'board', file),
        source.replace(from, () => to),
      );
      const output = await outputOf(await compile(context, check ?? 'wakeups_check', changed), program);
      expect(output).toContain(program);
      expect(output).not.toMatch(/: right$/m);
    },
  );
});
