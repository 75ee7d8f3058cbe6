import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

import { protocolSources, root, rtlSources } from './blocks.ts';

/** Parameters of a block: numbers, and booleans for those of one bit. */
export type Shape = Readonly<Record<string, number | boolean>>;

/** A built bench. */
export interface Bench {
  /** The folder in which it runs. */
  readonly directory: string;
  /** Runs the bench with these arguments; returns its output and whether it succeeded. */
  run(...args: readonly (string | number)[]): { output: string; ok: boolean };
  /** For a bench that was built with `reaches`: how often the last run reached each `cover` of the rules at its ports. */
  reached(): Map<string, number>;
}

/** Verilator's warnings about a block of this shape; empty: none. */
export function lint(verilator: string, block: string, shape: Shape): string {
  const { stdout, stderr, status } = spawnSync(
    verilator,
    ['--lint-only', '-Wall', '--top-module', block, ...parameters(shape), ...rtlSources(block)],
    { encoding: 'utf8' },
  );
  return status === 0 ? stdout + stderr : `${stdout}${stderr}status ${status}`;
}

/** The folder for coverage data; undefined: runs do not collect coverage (npm run fpga:coverage). */
const coverage = process.env['FPGA_VERBS_RTL_COVERAGE'];

/** The folder in which the first bench of each shape of a block was built. */
const built = new Map<string, string>();

/** The device model, to which benches are linked. */
const model = `${root}build/native/libfpga_verbs_native.a`;

/** Options of make for Verilator's output: one unoptimized source, because compiling takes longer than running. */
export const compiledAtOnce = ['VM_PARALLEL_BUILDS=0', 'OPT_FAST=-O0', 'OPT_SLOW=-O0', 'OPT_GLOBAL=-O0'];

/**
 * Builds the bench fpga/tb/<bench>_tb.cpp, which runs the block in lockstep with the device model.
 * @param mutant name of a fault to build in
 * @param source name of the bench, where the block has several
 * @param reaches counts what is reached of the rules at the ports (fpga/formal/axi)
 */
export function buildBench(
  verilator: string,
  block: string,
  shape: Shape,
  mutant?: string,
  source = block,
  reaches = false,
): Bench {
  const covers = coverage !== undefined && mutant === undefined;
  const name = [
    source,
    ...Object.values(shape).map(Number),
    mutant ?? '',
    ...(covers ? ['coverage'] : []),
    ...(reaches ? ['reaches'] : []),
  ].join('_');
  const directory = path.join(root, 'build/rtl', name);
  mkdirSync(directory, { recursive: true });
  const sameShape = [source, ...Object.values(shape), ...(reaches ? ['reaches'] : [])].join();
  const defines = Object.entries(shape).map(([parameter, value]) => `-D${parameter}=${Number(value)}`);
  const flags = ['-std=c++20', `-I${root}native`, `-I${root}fpga/tb`, ...defines];
  const options = ['--cc', '--exe', '--assert', '-Wall', '-O3', '--Mdir', directory];
  // A fault can leave signals unused, which must not stop the build.
  const fault = mutant === undefined ? [] : [`-DFPGA_VERBS_MUTANT_${mutant.toUpperCase()}`, '-Wno-fatal'];
  execFileSync(
    verilator,
    [
      ...options,
      ...fault,
      ...(covers ? ['--coverage-line', '--coverage-toggle'] : []),
      ...(reaches ? ['--coverage-user'] : []),
      ...parameters(shape),
      '-CFLAGS',
      flags.join(' '),
      '--top-module',
      block,
      ...rtlSources(block),
      ...protocolSources(block),
      `${root}fpga/tb/${source}_tb.cpp`,
      model,
    ],
    { stdio: 'pipe' },
  );
  const first = built.get(sameShape);
  if (first === undefined) built.set(sameShape, directory);
  else shareObjects(first, directory);
  rmSync(path.join(directory, `V${block}`), { force: true }); // make does not notice a changed model
  execFileSync('make', ['-s', '-j', '2', '-C', directory, '-f', `V${block}.mk`, ...compiledAtOnce], {
    stdio: 'pipe',
  });
  return {
    directory,
    run(...args) {
      const { stdout, status } = spawnSync(path.join(directory, `V${block}`), args.map(String), {
        encoding: 'utf8',
        cwd: directory,
      });
      if (covers)
        renameSync(
          path.join(directory, 'coverage.dat'),
          path.join(coverage, `${name}_${args.join('_')}.dat`),
        );
      return { output: stdout, ok: status === 0 };
    },
    reached() {
      const points = readFileSync(path.join(directory, 'coverage.dat'), 'latin1').matchAll(
        /v_user\/.*TOP\.\w+\.([\w.[\]]+)' (\d+)$/gm,
      );
      return new Map([...points].map(([, point, count]) => [point!, Number(count)]));
    },
  };
}

/** Copies the objects that all benches of a shape share: Verilator's library, and the bench, which uses only the RTL's ports. */
function shareObjects(from: string, to: string): void {
  for (const file of readdirSync(from))
    if (/\.[od]$/.test(file) && !file.startsWith('V'))
      copyFileSync(path.join(from, file), path.join(to, file));
}

function parameters(shape: Shape): string[] {
  return Object.entries(shape).map(
    ([name, value]) => `-G${name}=${typeof value === 'boolean' ? `1'b${Number(value)}` : value}`,
  );
}
