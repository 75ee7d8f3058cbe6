import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

import { read, root } from '../helpers/documents.ts';

/** Words that hide the actor, by the folder that is free of them. */
const indefinite = /\b(?:nobody|whoever|somebody|whom)\b/i;
/** Names that this field does not use. */
const invented = /\b(?:nonsense|blame|prey|isPrey|[Pp]atience|Presence)\b/;
/** British spellings of words that occur here. */
const british =
  /\b\w*(?:colour|behaviour|neighbour|honour|favour)\w*\b|\b(?:serialis|synchronis|initialis|optimis|recognis|normalis|summaris|organis)\w+\b|\b(?:centre|licence)\b/i;
/** A sentence that opens with What, Who or Whose as a noun; a question is none. */
const openings = /(?:^|[.:;] |\/\*\* |\/\/\/? |\* |\| )(?:What|Who|Whose) (?![^.]*\?)/;

const texts = /\.(?:md|ts|mjs|cpp|h|sv|svh|json)$/;
/** Generated files, files quoted from others, and this file. */
const others = /^(?:package-lock\.json|LICENSE|test\/fuzz\/corpus|test\/house\/plain_english\.test\.ts)/;

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => texts.test(file) && !others.test(file))
  .map((file) => [file, read(file).split('\n')] as const);

function found(pattern: RegExp, folder: RegExp): string[] {
  return files
    .filter(([file]) => folder.test(file))
    .flatMap(([file, lines]) =>
      lines.flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    );
}

const documents = /^(?:docs\/|[A-Z]+\.md$)/;
const whole = /^(?:lib|native|fpga|docs|scripts|examples|test)\/|^[A-Z]+\.md$/;

describe('the words of documents, comments and messages', () => {
  it('are read from all files', () => expect(files.length).toBeGreaterThan(1000));

  it.each([
    ['documents', documents],
    ['lib', /^lib\//],
    ['examples', /^examples\//],
    ['scripts', /^scripts\//],
    ['native', /^native\//],
    ['fpga', /^fpga\//],
    ['test', /^test\//],
  ])('name the actor: %s', (_, folder) => {
    expect(found(indefinite, folder)).toEqual([]);
    expect(found(openings, folder)).toEqual([]);
  });

  it('contain no invented names', () => expect(found(invented, whole)).toEqual([]));

  it('have American spelling', () => expect(found(british, whole)).toEqual([]));
});
