import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import { apiReference, exportsOf } from '../../scripts/api_reference.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Page of each entry, and the fewest names that it exports. */
const entries = [
  ['fpga-verbs', 'verbs', 8],
  ['fpga-verbs/connect', 'connect', 8],
  ['fpga-verbs/board', 'board', 8],
  ['fpga-verbs/watch', 'watch', 3],
] as const;

describe('the API reference', () => {
  it('matches the docstrings (npm run api)', () => {
    const pages = apiReference() as ReadonlyMap<string, string>;
    const written = readdirSync(`${root}docs/api`).map((name) => `docs/api/${name}`);
    expect(written.sort()).toEqual([...pages.keys()].sort());
    for (const [file, text] of pages) expect(readFileSync(root + file, 'utf8'), file).toBe(text);
  });

  it.each(entries)('has all exports of %s', async (entry, page, fewest) => {
    const text = readFileSync(`${root}docs/api/${page}.md`, 'utf8');
    const folder = entry === 'fpga-verbs' ? '' : `${page}/`;
    const module = (await import(`${root}lib/${folder}index.ts`)) as object;
    const names = new Set([...Object.keys(module), ...(exportsOf(entry) as string[])]);
    expect(names.size).toBeGreaterThanOrEqual(fewest);
    const headed = [...text.matchAll(/^### (?:class|interface|type|function|const) (\w+)/gm)].map(
      ([, name]) => name!,
    );
    expect(headed.filter((name) => name !== 'VerbsObject').sort()).toEqual([...names].sort());
  });
});
