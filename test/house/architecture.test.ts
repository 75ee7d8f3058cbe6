import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { quoted, read, root, rowsOf } from './documents.ts';
import { foldersOfNative } from './native_folders.ts';

const page = read('docs/architecture.md');

describe('docs/architecture.md', () => {
  const rows = rowsOf(page, 'Folders of native/').map(([folder, , includes]) => ({
    folder: quoted(folder!)[0]!,
    includes: quoted(includes!),
  }));
  const folders = new Map([...foldersOfNative()].filter(([folder]) => !/^test(\/|$)/.test(folder)));

  it('lists the folders of native/ that are shipped', () => {
    expect(rows.map(({ folder }) => folder).sort()).toEqual([...folders.keys()].sort());
  });

  it.for(rows)('says what native/$folder includes', ({ folder, includes }) => {
    expect(includes).toEqual([...(folders.get(folder) ?? [])].sort());
  });

  it('draws folders and blocks that exist', () => {
    const drawings = [...page.matchAll(/```\n([^]*?)```/g)].map(([, drawing]) => drawing!);
    const [house, way] = drawings;
    const named = [...house!.matchAll(/\b(?:lib|native|fpga)\/\w+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
    const blocks = [...way!.matchAll(/\b[a-z_]{4,}\b/g)]
      .map(([name]) => name)
      .filter((name) => !['writes', 'answers'].includes(name));
    expect(blocks.length).toBeGreaterThan(8);
    const isFolder = (name: string): boolean => folders.has(`hca/${name}`) || folders.has(name);
    expect(blocks.filter((name) => !isFolder(name))).toEqual([]);
  });
});
