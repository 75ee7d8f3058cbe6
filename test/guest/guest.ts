import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished, type TestContext, type TestOptions } from 'vitest';

import { requireTool } from '../helpers/tools.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Result of a run of the guest. */
export interface GuestRun {
  /** Output of its kernel and its program on the console, and whether the emulator crashed. */
  readonly console: string;
  /** Exit status of its program; undefined: the program did not end. */
  readonly status: number | undefined;
}

/** A virtual machine and its program. */
export interface GuestOptions {
  /** Shell script, run by root in the repository. */
  readonly script: string;
  /** Words for the kernel's command line. */
  readonly kernel?: string;
  /** Arguments for the machine, besides processor, memory and console. */
  readonly machine: readonly string[];
  /** Time limit in seconds. */
  readonly seconds: number;
  /** Each gets the other end of a descriptor of the emulator: 3, 4, and so on. */
  readonly attend?: readonly ((stream: Duplex) => void)[];
}

const crash = 'the emulator crashed';
const crashSignals: readonly (string | null)[] = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT'];

/**
 * Options of tests whose guests may run for this many seconds. A test is repeated once if the emulator
 * crashed, which the console shows: QEMU 7.2 sometimes crashes at the same place, after an access of the
 * machine.
 */
export const guestTests = (seconds: number): TestOptions => ({
  timeout: (seconds + 60) * 1000,
  retry: { count: 1, condition: new RegExp(crash) },
});

/**
 * Builds the guest if necessary; skips the test if there is no emulator.
 * @returns the emulator
 */
export function requireGuest(context: TestContext): string {
  const emulator = requireTool('qemu-system-x86_64', context);
  for (const tool of ['busybox', 'cpio', 'kmod', 'xz']) requireTool(tool, context);
  execFileSync(process.execPath, [path.join(repository, 'scripts/guest.mjs')], { stdio: 'inherit' });
  return emulator;
}

/** A folder that the guest mounts as /host, removed when the test ends. */
export function hostFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-guest-'));
  chmodSync(folder, 0o777); // for users of the guest other than root
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/**
 * Boots the guest, runs its program and waits for its end. The guest sees the host's /usr and this
 * repository, both read-only.
 * @param host the folder from {@link hostFolder}
 */
export async function runGuest(
  emulator: string,
  host: string,
  { script, kernel = '', machine, seconds, attend = [] }: GuestOptions,
): Promise<GuestRun> {
  writeFileSync(path.join(host, 'run.sh'), script);
  const child = spawn(
    'timeout',
    ['-k', '2', String(seconds), emulator, ...emulatorArguments(host, kernel), ...machine],
    {
      stdio: ['ignore', 'pipe', 'pipe', ...attend.map(() => 'pipe' as const)],
    },
  );
  const closed = once(child, 'close');
  // A failed test does not wait for the end.
  onTestFinished(async () => {
    child.kill();
    await closed;
  });
  for (const [index, take] of attend.entries()) take(child.stdio[3 + index] as Duplex);
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8');
    stream.on('data', (part: string) => (text += part));
  }
  const [, signal] = (await closed) as [number | null, string | null];
  if (crashSignals.includes(signal)) text += `\n${crash}: ${signal}`;
  const status = path.join(host, 'status');
  return {
    console: text,
    status: existsSync(status) ? Number(readFileSync(status, 'utf8')) : undefined,
  };
}

const words = (text: string): string[] => text.split(' ');

function emulatorArguments(host: string, kernel: string): string[] {
  const share = (tag: string, folder: string, readOnly: boolean): string[] => [
    '-virtfs',
    `local,path=${folder},mount_tag=${tag},security_model=none,multidevs=remap${readOnly ? ',readonly=on' : ''}`,
  ];
  return [
    ...words('-nodefaults -no-user-config -no-reboot -display none -serial stdio'),
    ...words('-accel tcg -cpu max -smp 1'),
    '-kernel',
    path.join(repository, 'build/guest/vmlinux'),
    '-initrd',
    path.join(repository, 'build/guest/initramfs.cpio'),
    '-append',
    `console=ttyS0 quiet panic=-1 no_timer_check ${kernel}`,
    ...share('usr', '/usr', true),
    ...share('repo', repository, true),
    ...share('host', host, false),
  ];
}
