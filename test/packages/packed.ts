import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const out = path.join(root, 'build/packages');

/** The folders of the packages, as in their tarballs. */
export const packed = {
  main: path.join(out, 'fpga-verbs'),
  binaries: path.join(out, `fpga-verbs-linux-${process.arch}`),
  binariesOf: (cpu: string): string => path.join(out, `fpga-verbs-linux-${cpu}`),
};

/** The parts of a package.json that tests read. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin: { readonly hca: string };
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** @param folder of a package */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Packs the build of this processor, or of the named ones. */
export function pack(...cpus: readonly string[]): void {
  const words = [path.join(root, 'scripts/packages.mjs'), ...(cpus.length === 0 ? [process.arch] : cpus)];
  execFileSync(process.execPath, words, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Folders of the packages that fpga-verbs depends on, transitively. */
export function dependencies(): string[] {
  const list = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return list
    .trim()
    .split('\n')
    .filter((folder) => folder !== root && `${folder}/` !== root);
}

/**
 * Downloads the versions of npm that users have, and a Node for arm64.
 * @returns their folder
 */
export function packageTools(): string {
  execFileSync(process.execPath, [path.join(root, 'scripts/package_tools.mjs')], { stdio: 'inherit' });
  return path.join(root, 'build/package_tools');
}
