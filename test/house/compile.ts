import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished, type TestContext } from 'vitest';

import { requireTool } from '../helpers/tools.ts';

/** How CMake compiles one source. */
export interface CompileCommand {
  readonly directory: string;
  readonly command: string;
  readonly file: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Files that Verilator generates do not exist. */
const isOfRtl = ({ file }: CompileCommand): boolean =>
  /\/rtl(_module)?[./]|verilat/.test(path.relative(root, file));

const runs = promisify(execFile);

/**
 * The commands by which CMake would compile the native code, without the parts that need Verilator.
 * @param name directory in build/, removed when the test ends
 * @param options definitions of CMake
 */
export function compileCommands(
  context: TestContext,
  name: string,
  options: readonly string[],
): CompileCommand[] {
  const build = path.join(root, 'build', name);
  onTestFinished(() => rmSync(build, { recursive: true, force: true }));
  execFileSync(requireTool('cmake', context), [
    '-S',
    root,
    '-B',
    build,
    ...['CMAKE_BUILD_TYPE=Release', 'CMAKE_EXPORT_COMPILE_COMMANDS=ON', ...options].map(
      (option) => `-D${option}`,
    ),
  ]);
  const commands = JSON.parse(
    readFileSync(path.join(build, 'compile_commands.json'), 'utf8'),
  ) as CompileCommand[];
  return commands.filter((each) => !isOfRtl(each));
}

/**
 * The compiler's messages on sources that fail, two at a time.
 * @param more additional options of each command
 */
export async function compile(commands: readonly CompileCommand[], more: string): Promise<string[]> {
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
