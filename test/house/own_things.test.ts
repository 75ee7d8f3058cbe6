import { readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import { findServedBoards } from '../../lib/board/index.ts';

const tests = fileURLToPath(new URL('../', import.meta.url));

describe('a test does not share', () => {
  it('the folder of names of served boards', () => {
    expect(process.env['XDG_RUNTIME_DIR']).toContain(path.join(tmpdir(), 'fpga-verbs-run-'));
    expect(findServedBoards()).toEqual([]);
  });

  it.each([
    ['a port that is written down', /\.listen\((?!0\b)\d|'(?:-p|--port)',\s*'\d/],
    ['an address made of the number of its process', /process\.pid\s*(?:%|>>)/],
  ])('%s: free_port.ts returns one that no other test uses', (_, pattern) => {
    const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.m?[jt]s$/.test(name),
    );
    expect(files.length).toBeGreaterThan(100);
    const found = files.filter((name) => pattern.test(readFileSync(path.join(tests, name), 'utf8')));
    expect(found.filter((name) => name !== path.join('house', 'own_things.test.ts'))).toEqual([]);
  });
});
