import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';

/** The Debian package of each tool that tests run. */
const packages: Readonly<Record<string, string>> = {
  'aarch64-linux-gnu-g++': 'g++-aarch64-linux-gnu',
  busybox: 'busybox-static',
  'clang++-19': 'clang-19',
  'chromium-headless-shell': 'chromium-headless-shell',
  cmake: 'cmake',
  cpio: 'cpio',
  fi_pingpong: 'libfabric-bin',
  'g++': 'g++',
  ib_send_lat: 'perftest',
  ibv_rc_pingpong: 'ibverbs-utils',
  ip: 'iproute2',
  kmod: 'kmod',
  'mpirun.openmpi': 'openmpi-bin',
  nm: 'g++', // its binutils
  python3: 'python3',
  'qemu-aarch64-static': 'qemu-user-static',
  'qemu-system-x86_64': 'qemu-system-x86',
  tclsh: 'tcl',
  tshark: 'tshark',
  ucx_info: 'ucx-utils',
  valgrind: 'valgrind',
  verilator: 'verilator',
  xz: 'xz-utils',
  yosys: 'yosys',
  z3: 'z3',
};

const root = new URL('../../', import.meta.url);

/**
 * Requires a tool for a test. If it is not installed, the test is skipped, and `npm test` prints at its end how to install it. With CI
 * set, a missing tool is a failure, as is one that .ci/packages does not list.
 * @returns its name
 */
export function requireTool(tool: string, context: TestContext): string {
  const debianPackage = packages[tool];
  if (debianPackage === undefined)
    throw new Error(`test/helpers/tools.ts does not know the package of ${tool}`);
  requirePackage(debianPackage, tool, isInstalled(tool), context);
  return tool;
}

/** The environment of such a tool: a sanitizer's library that is loaded before Node is not for it. */
export function toolEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LD_PRELOAD: '' };
}

/** A file that a test needs, as {@link requireTool}. */
export function requireFile(file: string, debianPackage: string, context: TestContext): void {
  requirePackage(debianPackage, file, existsSync(file), context);
}

function requirePackage(debianPackage: string, what: string, isThere: boolean, context: TestContext): void {
  const listed = readFileSync(new URL('.ci/packages', root), 'utf8').split('\n');
  if (!listed.includes(debianPackage)) throw new Error(`${debianPackage} is not listed in .ci/packages`);
  if (isThere) return;
  const reason = `${what} is not installed; on Debian: apt-get install ${debianPackage}`;
  if (process.env['CI'] !== undefined) throw new Error(reason);
  leaveOut(reason, context);
}

/** Leaves a test out for what this machine refuses; `npm test` says so at its end. */
export function leaveOut(reason: string, context: TestContext): never {
  const build = fileURLToPath(new URL('build/', root));
  mkdirSync(build, { recursive: true });
  appendFileSync(`${build}left_out.txt`, `${context.task.name}: ${reason}\n`);
  return context.skip(reason);
}

function isInstalled(tool: string): boolean {
  return spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined;
}
