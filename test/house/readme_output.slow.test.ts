import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

import { read, root } from '../helpers/documents.ts';

/** Without figures, and without the width that they need. */
const shape = (line: string): string =>
  line
    .replace(/0x[0-9a-f]+|[0-9][0-9.,]*/g, '#')
    .replace(/\s+/g, ' ')
    .trim();

it('npm start prints what the README shows, figures aside', () => {
  const printed = execFileSync(process.execPath, ['scripts/start.mjs'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .map(shape);
  const section = read('README.md').split('\n## Two commands\n')[1]!.split('\n## ')[0]!;
  const shown = section.split('```')[1]!.trim().split('\n').map(shape);
  expect(shown.length).toBeGreaterThan(15);
  let at = 0;
  for (const line of shown) {
    const found = printed.indexOf(line, at);
    expect(found, `"${line}" after line ${at} of what is printed`).toBeGreaterThanOrEqual(at);
    at = found + 1;
  }
});
