// The threads around an emulated board in all their interleavings (native/test/interleavings), on the shipped
// source; and with one change to it at a time, each of which the explorer must find.
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
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** The program that fails with this change, and the check that it belongs to; default: wakeups_check. */
  readonly program: string;
  readonly check?: string;
}

const mutants: readonly Mutant[] = [
  {
    what: 'a poller that finds a packet sets the note without waking the thread',
    file: 'thread_drive.h',
    from: 'wakeups_.note([this] { wakeups_.wake(); });',
    to: 'wakeups_.note([] {});',
    program: 'own, a link and a poller',
  },
  {
    what: 'the thread does not check again after announcing its sleep',
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
    what: 'the setter of the note handles the packet before setting the note',
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
    what: 'the thread is woken before the leftover deadline is stored',
    file: 'wakeups.h',
    from: 'left_over_.store(due, std::memory_order_seq_cst);\n    wake(due);',
    to: 'wake(due);\n    left_over_.store(due, std::memory_order_seq_cst);',
    program: 'shared, a link',
  },
  {
    what: 'the leftover deadline may be seen late',
    file: 'wakeups.h',
    from: 'left_over_.store(due, std::memory_order_seq_cst);',
    to: 'left_over_.store(due, std::memory_order_relaxed);',
    program: 'shared, a link',
  },
  {
    what: 'a wake-up does not clear the futex word, so the thread sleeps on it',
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
    what: 'the holder of the lock does not check the ring after unlocking',
    file: 'caller_drive.h',
    from: 'while (ring_.arriving() || wakeups_.noted());',
    to: 'while (wakeups_.noted());',
    program: 'shared, two posters',
  },
  {
    what: 'the holder of the lock does not check the note after unlocking',
    file: 'caller_drive.h',
    from: 'while (ring_.arriving() || wakeups_.noted());',
    to: 'while (ring_.arriving());',
    program: 'shared, a poster, and a poller that finds a packet',
  },
  {
    what: 'the holder checks before others can see that the lock is free',
    file: 'board_lock.h',
    from: 'held_.exchange(false, std::memory_order_acq_rel);',
    to: 'held_.store(false, std::memory_order_release);',
    program: 'shared, two posters',
  },
  {
    what: 'the thread checks for complete messages, not for claimed ones',
    file: 'thread_drive.h',
    from: 'ring_.claimed() ||',
    to: 'ring_.arriving() ||',
    program: 'own, a poster',
  },
  {
    what: 'the thread unlocks the board before announcing its sleep',
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
    what: 'a caller leaves a command without a word to the thread',
    file: 'caller_drive.h',
    from: 'wakeups_.leave(in_a_while());\n    return true;',
    to: 'return true;',
    program: 'leaving, a poster',
  },
  {
    what: 'the writer for observers does not announce the words that it overwrites',
    file: 'watch_ring.h',
    from: 'header.begun.store(end, std::memory_order_relaxed);',
    to: '',
    program: 'twice as many',
    check: 'watch_ring_check',
  },
  {
    what: 'an observer may see new words before their overwriting is announced',
    file: 'watch_ring.h',
    from: 'place(0).store(number << 32 | message.size(), std::memory_order_release);',
    to: 'place(0).store(number << 32 | message.size(), std::memory_order_relaxed);',
    program: 'twice as many',
    check: 'watch_ring_check',
  },
  {
    what: 'an observer may see the head before the words of its message',
    file: 'watch_ring.h',
    from: 'header.head.store(end, std::memory_order_release);',
    to: 'header.head.store(end, std::memory_order_relaxed);',
    program: 'as many as there is room for',
    check: 'watch_ring_check',
  },
  {
    what: 'an observer does not check again after copying a message',
    file: 'watch_ring.h',
    from: 'if (is_intact())\n      copied.outcome',
    to: 'copied.outcome',
    program: 'twice as many',
    check: 'watch_ring_check',
  },
  {
    what: 'an observer counts its lost records while the writer is about to write',
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

/** The output of a program, also when it exits with status 1 because it found an error. */
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
  'no interleaving of the threads of a board loses a wake-up',
  async (context) => {
    const output = await outputOf(await compile(context, 'wakeups_check'));
    const lines = output.trim().split('\n');
    expect(lines.filter((line) => !line.endsWith(': right'))).toEqual([]);
    expect(lines.length).toBeGreaterThan(20);
  },
  longest,
);

it(
  'no interleaving gives an observer a record that was not written, or hides a lost record',
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

describe('the explorer finds the fault if', () => {
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
