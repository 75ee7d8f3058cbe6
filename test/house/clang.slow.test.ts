// The addon is built by gcc; who has clang alone builds it too, and libFuzzer needs it.
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

import { requireTool } from '../tools.ts';

interface CompileCommand {
  readonly directory: string;
  readonly command: string;
  readonly file: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const build = path.join(root, 'build/clang');
const isHeader = ({ file }: CompileCommand): boolean => file.includes('cmake_pch');
/** What Verilator makes is not there. */
const isOfRtl = ({ file }: CompileCommand): boolean =>
  /\/rtl(_module)?[./]|verilat/.test(path.relative(root, file));

const runs = promisify(execFile);

/** What the compiler says of those that fail, two at a time. */
async function compile(commands: readonly CompileCommand[], more: string): Promise<string[]> {
  const left = [...commands];
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { command, directory } = next;
      await runs('sh', ['-c', `${command} ${more}`], { cwd: directory }).catch(
        ({ stderr }: { stderr: string }) => failures.push(stderr),
      );
    }
  };
  await Promise.all([work(), work()]);
  return failures;
}

it('all of the native code compiles with clang, without a warning', async (context) => {
  const compiler = requireTool('clang++-19', context);
  const options = [
    'CMAKE_BUILD_TYPE=Release',
    `CMAKE_CXX_COMPILER=${compiler}`,
    'CMAKE_EXPORT_COMPILE_COMMANDS=ON',
  ];
  execFileSync(requireTool('cmake', context), [
    '-S',
    root,
    '-B',
    build,
    ...options.map((option) => `-D${option}`),
  ]);
  const commands = (
    JSON.parse(readFileSync(path.join(build, 'compile_commands.json'), 'utf8')) as CompileCommand[]
  ).filter((each) => !isOfRtl(each));
  expect(await compile(commands.filter(isHeader), '')).toEqual([]);
  const sources = commands.filter((each) => !isHeader(each));
  expect(sources.length).toBeGreaterThan(150);
  expect(await compile(sources, '-fsyntax-only')).toEqual([]);
  rmSync(build, { recursive: true });
}, 600_000);
