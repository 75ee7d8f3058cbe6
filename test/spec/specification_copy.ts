import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The outcome of a run of the generator. */
export interface GeneratorRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the generator of the tree under `directory`. */
export function runGenerator(directory: string, ...args: string[]): GeneratorRun {
  const generator = path.join(directory, 'fpga/spec/generate.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [generator, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** The repository's own tree. */
export const repository = root;

/** The specification, and everything that is generated from it or stored beside it. */
export const allOfSpecification: readonly string[] = [
  'fpga/spec',
  'fpga/doc',
  'fpga/rtl/base/hca_spec_pkg.sv',
  'fpga/tb/spec_golden_tb.sv',
  'lib/spec',
  'native/spec',
  'native/test/spec_format.h',
  'native/test/spec_formats.cpp',
];

/** A copy of the specification, removed when the test ends. */
export class SpecificationCopy {
  readonly directory: string = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-spec-'));

  /** @param paths files and folders to copy */
  constructor(...paths: string[]) {
    onTestFinished(() => rmSync(this.directory, { recursive: true }));
    for (const each of paths) cpSync(path.join(root, each), this.path(each), { recursive: true });
  }

  path(file: string): string {
    return path.join(this.directory, file);
  }

  /** Replaces the only occurrence of `found` in a file. */
  replace(file: string, found: string, replacement: string): void {
    const parts = readFileSync(this.path(file), 'utf8').split(found);
    if (parts.length !== 2) throw new Error(`${found} stands ${parts.length - 1} times in ${file}, not once`);
    writeFileSync(this.path(file), parts.join(replacement));
  }

  write(file: string, content: unknown): void {
    writeFileSync(this.path(file), JSON.stringify(content));
  }

  generate(...args: string[]): GeneratorRun {
    return runGenerator(this.directory, ...args);
  }
}
