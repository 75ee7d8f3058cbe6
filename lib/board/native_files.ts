import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The addon, and the library for programs of libibverbs with its companion library that `hca run` preloads. */
export type NativeFile = 'fpga_verbs.node' | 'verbs/libibverbs.so.1';

/** Root of this package: sources are two folders below it, dist/lib three, the simulation's build four. */
export const packageRoot = ['../../', '../../../', '../../../../']
  .map((place) => fileURLToPath(new URL(place, import.meta.url)))
  .find((place) => existsSync(path.join(place, 'package.json')))!;

/** Files with blocks in RTL: they are built in a clone alone, with Verilator. */
export type RtlFile = 'fpga_verbs_rtl.node' | 'verbs_rtl/libibverbs.so.1';

/** The version of this package. */
export const packageVersion = versionIn(path.join(packageRoot, 'package.json'));

/** Name of the binary package for this operating system and processor. */
const binaryPackage = `fpga-verbs-${process.platform}-${process.arch}`;

/**
 * Path of a native file: the one built in this package (`npm run setup` in a clone, `hca build` where it is installed), otherwise the one
 * of the binary package for this machine.
 * @throws Error: neither exists, or the binary package is of another version
 */
export function nativeFile(name: NativeFile): string {
  const built = builtFile(name);
  if (built !== undefined) return built;
  const binaries = binariesOfPackage();
  if (binaries !== undefined) return path.join(binaries, name);
  throw new Error(
    `${binaryPackage}${ofLibrary()} is not installed, and nothing was built here; ${howToBuild}`,
  );
}

/** Path of a native file that was built in this package; undefined: it was not. */
export function builtFile(name: NativeFile | RtlFile): string | undefined {
  const built = path.join(packageRoot, 'build/Release', name);
  return existsSync(built) ? built : undefined;
}

/** Error about a file with blocks in RTL that is not built. @param what the file, in words */
export function rtlNotBuilt(device: string, what: string): string {
  return `device "${device}": the ${what} with blocks in RTL is not built; expected: in a clone, with Verilator (on Debian: apt-get install verilator), npm run fpga:addon`;
}

/** The end of an error about binaries that are missing or that this machine cannot load. */
export const howToBuild = existsSync(path.join(packageRoot, 'scripts/setup.mjs'))
  ? 'expected: npm run setup'
  : 'expected: npx hca build, which needs a C++20 compiler, make and CMake';

function binariesOfPackage(): string | undefined {
  const manifest = manifestOfBinaries();
  if (manifest === undefined) return undefined;
  const version = versionIn(manifest);
  if (version === packageVersion) return path.dirname(manifest);
  throw new Error(
    `${binaryPackage} is of version ${version}; expected: ${packageVersion}, the version of fpga-verbs`,
  );
}

function manifestOfBinaries(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${binaryPackage}/package.json`);
  } catch {
    return undefined;
  }
}

function versionIn(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** The binaries need glibc. npm skips the package on musl, so the error names musl. */
function ofLibrary(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return process.platform === 'linux' && header.glibcVersionRuntime === undefined ? ' (made for glibc)' : '';
}
