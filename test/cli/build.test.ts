import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/build_addons.mjs', import.meta.url));
const nothing = '/bin/true'; // answers --version

it.each<[string, readonly string[], readonly string[]]>([
  ['nothing', [], ['a C++ compiler', 'make', 'CMake or python3']],
  ['a compiler alone', ['g++'], ['make', 'CMake or python3']],
  ['neither CMake nor python3', ['c++', 'ninja'], ['CMake or python3']],
])('a build names all missing tools at once if there is %s', (_, there, missing) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-tools-'));
  try {
    for (const tool of there) symlinkSync(nothing, path.join(folder, tool));
    const { status, stderr } = spawnSync(process.execPath, [script, 'fpga_verbs'], {
      cwd: folder,
      env: { PATH: folder },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    const packages: Readonly<Record<string, string>> = { 'a C++ compiler': 'g++', make: 'make' };
    expect(stderr.trim().split('\n')).toEqual(
      missing.map(
        (what) => `setup: ${what} is missing; on Debian: apt-get install ${packages[what] ?? 'cmake'}`,
      ),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
