import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { packageRoot } from '../board/native_files.ts';
import type { Output } from './output/output.ts';
import type { Progress } from './output/progress.ts';
import type { Scope } from './scope.ts';

/** Targets of binding.gyp, each with its output file in build/Release. */
const targets = {
  fpga_verbs: 'fpga_verbs.node',
  ibverbs: 'verbs/libibverbs.so.1',
  device_node: 'verbs/libfpga_verbs_node.so',
} as const;
/** Inputs of the compiler. It reads a copy, from which the package's own dependencies resolve. */
const inputs = ['native', 'binding.gyp', 'CMakeLists.txt', 'package.json'];
/** Milliseconds between two progress checks. */
const pace = 500;
/** Characters of the compiler's output that an error message includes. */
const longestReason = 2000;

/** The binaries could not be built. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}

/**
 * `hca build`: builds the addon and the library for programs of libibverbs from the sources in the package, where no package of binaries
 * fits the machine. It puts all files in place at once and removes object files. JSON: {files}, the paths of what was built.
 * @param root folder of the package
 * @throws BuildError: the package is a clone, a tool is missing, or compiling fails; nothing is changed
 */
export async function build(output: Output, scope: Scope, root = packageRoot): Promise<void> {
  if (existsSync(path.join(root, 'scripts/setup.mjs')))
    throw new BuildError(`${root} is a clone of the repository; expected: npm run setup`);
  const work = scope.hold(workFolder(root), (folder) => rmSync(folder, { recursive: true, force: true }));
  for (const input of inputs) cpSync(path.join(root, input), path.join(work, input), { recursive: true });
  output.text(
    'Building the addon and libibverbs.so.1 from their sources, which takes one to five minutes.\n',
  );
  const progress = output.progress(false);
  try {
    await compile(root, work, progress, scope.signal);
  } finally {
    progress.clear();
  }
  const release = path.join(root, 'build/Release');
  const made = path.join(work, 'made');
  mkdirSync(path.join(made, 'verbs'), { recursive: true });
  const files = Object.values(targets);
  for (const file of files) renameSync(path.join(work, 'build/Release', file), path.join(made, file));
  mkdirSync(path.dirname(release), { recursive: true });
  rmSync(release, { recursive: true, force: true });
  renameSync(made, release);
  const paths = files.map((file) => path.join(release, file));
  output.value({ files: paths });
  for (const built of paths) output.text(`${built}\n`);
}

function workFolder(root: string): string {
  try {
    return mkdtempSync(path.join(root, 'building-'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BuildError(`${root} cannot be written to: ${reason}; expected: a user who may`, { cause });
  }
}

/** Runs the compiler in a process group of its own, which ends with the command. */
async function compile(root: string, work: string, progress: Progress, signal: AbortSignal): Promise<void> {
  const words = [path.join(root, 'scripts/build_addons.mjs'), ...Object.keys(targets)];
  const tool = spawn(process.execPath, words, {
    cwd: work,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  for (const stream of [tool.stdout, tool.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-longestReason)));
  const ended = new AbortController();
  const exit = once(tool, 'close').finally(() => ended.abort()) as Promise<[number | null]>;
  const sources = sourcesIn(root);
  try {
    const either = AbortSignal.any([signal, ended.signal]);
    while (!either.aborted) {
      progress.tell(
        () => `compiled ${Math.min(objectsIn(path.join(work, 'build')), sources)} of ${sources} files`,
      );
      await setTimeout(pace, undefined, { signal: either }).catch(() => {});
    }
    signal.throwIfAborted();
  } catch (error) {
    process.kill(-tool.pid!, 'SIGKILL');
    await exit;
    throw error;
  }
  const [code] = await exit;
  if (code !== 0) throw new BuildError(`the binaries were not built: ${said.trim()}`);
}

/** Number of files to compile. CMake compiles shared files once, node-gyp once for each target. */
function sourcesIn(root: string): number {
  const { variables } = JSON.parse(readFileSync(path.join(root, 'binding.gyp'), 'utf8')) as {
    variables: Readonly<
      Record<'library_sources' | 'addon_sources' | 'libibverbs_sources', readonly string[]>
    >;
  };
  const { library_sources: library, addon_sources: addon, libibverbs_sources: libibverbs } = variables;
  return library.length + addon.length + libibverbs.length;
}

function objectsIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.o')).length;
}
