import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { quoted, read, root } from '../helpers/documents.ts';
import { runHca } from '../helpers/run_hca.ts';

const documents = ['docs', 'fpga/doc'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
);

/**
 * Commands of `hca` in the code blocks and code spans of a document, without the options of a program that
 * `hca run` starts.
 */
function commandsOf(text: string): string[] {
  const blocks = text.split('```').filter((_, index) => index % 2 === 1);
  const lines = blocks.flatMap((block) => block.split('\n').map((line) => line.replace(/ #.*/, '')));
  const prose = text.split('```').filter((_, index) => index % 2 === 0);
  return [...lines, ...prose.flatMap((part) => quoted(part))].flatMap((line) =>
    [...line.matchAll(/(?:^|[|;&$(] ?)hca ([a-z]+)([^|;&]*)/g)].map(
      ([, command, rest]) => `${command!}${rest!.replace(/ -- .*/, '')}`,
    ),
  );
}

const shown = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...documents].flatMap((document) =>
  commandsOf(read(document)).map((command) => ({ document, command })),
);
const names = [...new Set(shown.map(({ command }) => command.split(' ')[0]!))].sort();

describe('documents use only options that the command has', () => {
  it.each(names)('hca %s', async (name) => {
    const { out, exitCode } = await runHca([name, '--help']);
    expect(exitCode).toBe(0);
    const known = new Set(
      [...out.matchAll(/^ {2}(-[\w-]+)(?:, (--[\w-]+))?/gm)].flatMap(([, ...options]) => options),
    );
    const wrong = shown.filter(({ command }) => {
      const [of, ...words] = command.split(/\s+/);
      return of === name && words.some((word) => /^--?[a-zA-Z]/.test(word) && !known.has(word));
    });
    expect(wrong).toEqual([]);
  });
});
