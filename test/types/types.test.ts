import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const here = fileURLToPath(new URL('./', import.meta.url));
const root = path.join(here, '../..');

/** Line numbers at which the compiler reports errors, from 1. */
function refusedLines(text: string): number[] {
  const directory = mkdtempSync(path.join(tmpdir(), 'misuse-'));
  try {
    writeFileSync(path.join(directory, 'misuse.ts'), text);
    const options = { extends: path.join(root, 'tsconfig.json'), include: ['misuse.ts'] };
    writeFileSync(path.join(directory, 'package.json'), '{ "type": "module" }');
    const compilerOptions = { rootDir: '/', typeRoots: [path.join(root, 'node_modules/@types')] };
    writeFileSync(path.join(directory, 'tsconfig.json'), JSON.stringify({ ...options, compilerOptions }));
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    try {
      execFileSync(process.execPath, [compiler, '--pretty', 'false', '-p', directory], { encoding: 'utf8' });
      return [];
    } catch (error) {
      const { stdout } = error as { stdout: string };
      return [...stdout.matchAll(/misuse\.ts\((\d+),/g)].map(([, line]) => Number(line));
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

it('each misuse of the verbs does not compile', () => {
  const text = readFileSync(path.join(here, 'misuse.ts'), 'utf8');
  expect(refusedLines(text)).toEqual([]);
  const lines = text.split('\n');
  const directive = '// @ts-expect-error ';
  const misused = lines.flatMap((line, index) => (line.trim().startsWith(directive) ? [index + 2] : []));
  expect(misused.length).toBeGreaterThan(40);
  const bare = lines.map((line) => line.replace(directive, '// ')).join('\n');
  expect([...new Set(refusedLines(bare))]).toEqual(misused);
});
