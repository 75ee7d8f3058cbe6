import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { runHca } from '../helpers/run_hca.ts';
import { quoted, read, root, rowsOf } from '../helpers/documents.ts';

const readme = read('README.md');
const contributing = read('CONTRIBUTING.md');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

describe('links work', () => {
  it.each(documents)('%s', (document) => {
    const links = [...read(document).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link]) => link!);
    const local = links.filter((link) => !link.startsWith('http'));
    expect(local.filter((link) => !existsSync(path.join(root, path.dirname(document), link)))).toEqual([]);
  });
});

it('every document is named in the README', () => {
  expect(documents.slice(1).filter((name) => !readme.includes(`(${name})`))).toEqual([]);
});

it('the README has one row for each command of hca, and no others', async () => {
  const { out } = await runHca(['--help']);
  const commands = [
    ...out
      .split('\nCommands:\n')[1]!
      .split('\n\n')[0]!
      .matchAll(/^ {2}(\w+) /gm),
  ].map(([, name]) => name!);
  const told = rowsOf(readme, 'The command `hca`')
    .flatMap(([first]) => quoted(first!))
    .map((words) => words.split(' ')[1]!);
  expect([...new Set(told)].sort()).toEqual(commands.filter((name) => name !== 'help').sort());
});

it('the README has at most 1,000 words', () => {
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1000);
});

it('CONTRIBUTING.md lists every npm script for people, and no others', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
  const told = [...contributing.matchAll(/npm (?!ci\b)(?:run )?([a-z:]+)/g)].map(([, name]) => name!);
  expect(told.filter((name) => !(name in scripts))).toEqual([]);
  const forNpm = ['install', 'prepack'];
  expect(Object.keys(scripts).filter((name) => !told.includes(name) && !forNpm.includes(name))).toEqual([]);
});
