import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';

import { toolEnvironment } from '../helpers/tools.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-programs-'));
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Compiles a file of test/libibverbs/programs as users do, with the system's libibverbs.
 * @returns the program's path
 */
export function compiled(compiler: string, source: string, words: readonly string[] = []): string {
  const made = path.join(folder, path.parse(source).name);
  const file = fileURLToPath(new URL(`programs/${source}`, import.meta.url));
  const all = [...words, '-Wall', '-o', made, file, '-libverbs', '-lpthread'];
  const { status, stderr } = spawnSync(compiler, all, { encoding: 'utf8', env: toolEnvironment() });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return made;
}
