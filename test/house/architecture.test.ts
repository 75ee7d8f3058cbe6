import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { quoted, read, root, rowsOf } from '../helpers/documents.ts';
import { foldersOfNative } from './native_folders.ts';
import { blocks, drawing, links, parts, wakes } from '../helpers/wiring.ts';

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

  it.for(rows)('lists the includes of native/$folder', ({ folder, includes }) => {
    expect(includes).toEqual([...(folders.get(folder) ?? [])].sort());
  });

  it('draws the links and wake-ups of the wiring table', () => {
    const sections = [...page.matchAll(/```\n([^]*?)\n```/g)].map(([, section]) => section!);
    expect(sections[2]).toBe(drawing());
  });

  it('finds every row of the wiring table, and blocks of their folders', () => {
    const text = read('native/hca/base/wiring.h');
    const count = (row: RegExp): number => [...text.matchAll(row)].length;
    expect(links).toHaveLength(count(/^ {2}LINK\(/gm));
    expect(wakes).toHaveLength(count(/^ {2}WAKE\(/gm));
    expect([...blocks, ...parts]).toHaveLength(count(/^ {2}(?:RTL_BLOCK|BLOCK|PART)\(/gm));
    const known = new Set([...blocks, ...parts]);
    const named = [
      ...links.flatMap(({ producer, consumer }) => [producer, consumer]),
      ...wakes.flatMap(({ part, block }) => [part, block]),
    ];
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    const headers = read('native/hca/hca_blocks.h');
    const foldersOfBlocks = blocks.map((name) => new RegExp(`"hca/(\\w+)/${name}\\.h"`).exec(headers)?.[1]);
    const way = page.match(/## Path of a command\n\n```\n([^]*?)```/)![1]!;
    const isDrawn = (folder = 'no folder'): boolean => new RegExp(`\\b${folder}\\b`).test(way);
    expect(foldersOfBlocks.filter((folder) => !isDrawn(folder))).toEqual([]);
  });

  it('draws only existing folders and blocks', () => {
    const drawings = [...page.matchAll(/```\n([^]*?)```/g)].map(([, drawn]) => drawn!);
    const [house, way] = drawings;
    const named = [...house!.matchAll(/\b(?:lib|native|fpga)\/\w+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
    const ofWay = [...way!.matchAll(/\b[a-z_]{4,}\b/g)]
      .map(([name]) => name)
      .filter((name) => !['writes', 'answers'].includes(name));
    expect(ofWay.length).toBeGreaterThan(8);
    const isFolder = (name: string): boolean => folders.has(`hca/${name}`) || folders.has(name);
    expect(ofWay.filter((name) => !isFolder(name))).toEqual([]);
  });
});
