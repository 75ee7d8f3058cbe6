import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { quoted, read, root } from '../helpers/documents.ts';

const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '');

/** The text of a document without its code blocks. */
const proseOf = (file: string): string => read(file).replaceAll(/^```[^]*?^```$/gm, '');

const cellsOf = (line: string): number => line.split(/(?<!\\)\|/).length;

/** The anchors of a document's headings, as GitHub derives them. */
function anchorsOf(file: string): string[] {
  return [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('documents', () => {
  it('are found', () => expect(documents.length).toBeGreaterThan(30));

  it.each(documents)('have a heading row, and rows of as many cells, in each table: %s', (file) => {
    const lines = proseOf(file).split('\n');
    const wrong = lines.flatMap((line, index) => {
      const before = lines[index - 1] ?? '';
      const isRule = /^\|[ :|-]+\|$/.test(line) && line.includes('---');
      const isRow = line.startsWith('|') && (isRule || before.startsWith('|'));
      return isRow && cellsOf(line) !== cellsOf(before) ? [`${file}:${index + 1}: ${line.slice(0, 80)}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  const written = documents.filter((file) => !file.startsWith('docs/api/') && file !== 'CHANGELOG.md');

  it.each(written)('name only existing files: %s', (file) => {
    const places = quoted(proseOf(file)).filter((code) =>
      /^(?:native|lib|test|fpga|docs|scripts|examples)\/[a-z\d_./-]+$/.test(code),
    );
    const endings = ['', '.ts', '.test.ts', '.slow.test.ts', '.cpp', '.h'];
    const missing = places.filter(
      (place) => !endings.some((ending) => existsSync(path.join(root, place + ending))),
    );
    expect(missing).toEqual([]);
  });

  it.each(documents)('link to existing files and headings: %s', (file) => {
    const links = [...proseOf(file).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link]) => link!);
    const broken = links.filter((link) => {
      const [place, anchor] = link.split('#') as [string, string | undefined];
      const target = place === '' ? file : path.join(path.dirname(file), place);
      if (!existsSync(path.join(root, target))) return true;
      return (
        anchor !== undefined &&
        (statSync(path.join(root, target)).isDirectory() || !anchorsOf(target).includes(anchor))
      );
    });
    expect(broken).toEqual([]);
  });
});
