// The corpora of the fuzz targets: one text file each in test/fuzz/corpus, one input per line in base64.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../test/fuzz/corpus', import.meta.url));
const ending = '.txt';
const nameOf = (input) => createHash('sha1').update(input).digest('hex').slice(0, 16);

/** Names of the targets that have a corpus. */
export function corpora() {
  return readdirSync(folder).map((file) => path.basename(file, ending));
}

/** The inputs of a target, by name: the first digits of their hash. */
export function inputsOf(target) {
  const lines = readFileSync(path.join(folder, target + ending), 'utf8')
    .split('\n')
    .slice(0, -1);
  return new Map(lines.map((line) => Buffer.from(line, 'base64')).map((input) => [nameOf(input), input]));
}

/** Writes the inputs of a target to a folder, one file each, as libFuzzer reads them. */
export function unpack(target, to) {
  mkdirSync(to, { recursive: true });
  for (const [name, input] of inputsOf(target)) writeFileSync(path.join(to, name), input);
}

/** Makes the files of a folder the inputs of a target. */
export function pack(target, from) {
  const inputs = readdirSync(from).map((name) => readFileSync(path.join(from, name)));
  const lines = inputs.toSorted(byName).map((input) => `${input.toString('base64')}\n`);
  writeFileSync(path.join(folder, target + ending), lines.join(''));
}

function byName(one, other) {
  return nameOf(one) < nameOf(other) ? -1 : 1;
}
