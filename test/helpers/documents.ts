import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Rows of the tables of a document, cell by cell, without head and rule. @param heading only the section under it */
export function rowsOf(text: string, heading?: string): string[][] {
  const begin = heading === undefined ? 0 : text.indexOf(`\n## ${heading}\n`);
  if (begin < 0) throw new Error(`there is no section "${heading}"`);
  const end = heading === undefined ? -1 : text.indexOf('\n## ', begin + 1);
  const section = text.slice(begin, end < 0 ? undefined : end);
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines
    .filter((line, index) => !isRule(line) && !isRule(lines[index + 1] ?? ''))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

/** Words in backquotes. */
export function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replaceAll('\\|', '|'));
}

const isRule = (line: string): boolean => /^\|[ |:-]+$/.test(line);
