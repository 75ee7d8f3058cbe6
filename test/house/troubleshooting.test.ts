import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import {
  completionStatusNames,
  eventTypeNames,
  managementStatusNames,
  refusalNames,
} from '../../lib/spec/index.ts';
import { runHca } from '../helpers/run_hca.ts';
import { quoted, read, rowsOf } from '../helpers/documents.ts';

const text = read('docs/troubleshooting.md');
const firstCells = (heading: string): string[] => rowsOf(text, heading).flatMap(([first]) => quoted(first!));

describe('every value has its entry, and there are no others', () => {
  it.each([
    ['Completion statuses', completionStatusNames],
    ['Asynchronous events', eventTypeNames],
    ['Refusals', refusalNames],
    ['Answers to management commands', managementStatusNames],
  ])('%s', (heading, names) => {
    expect(firstCells(heading)).toEqual(Object.values(names));
  });

  it('codes of VerbsError', () => {
    const sources = readdirSync('lib', { recursive: true, encoding: 'utf8' }).filter((name) =>
      /^(verbs|driver|connect|cli|board)\/.*\.ts$/.test(name),
    );
    const used = sources.flatMap((name) =>
      [...read(`lib/${name}`).matchAll(/(?:code|\]): '(E[A-Z]+)'/g)].map(([, code]) => code!),
    );
    expect(used.length).toBeGreaterThan(20);
    expect(firstCells('Codes of VerbsError').sort()).toEqual([...new Set(used)].sort());
  });

  it('every row has a cause and a remedy', () => {
    for (const row of rowsOf(text)) expect(row.every((cell) => cell !== '')).toBe(true);
  });
});

describe('errors of hca match the document', () => {
  const mistakes: readonly (readonly string[])[] = [
    ['info', '--device', 'foo:'],
    ['info', '--device', 'emu:?progres=own'],
    ['info', '--device', 'vfio:0000:01:00.0'],
    ['info', '--device', 'emu:9'],
    ['nothing'],
    ['list', '--nothing'],
    ['pingpong'],
    ['kicks', '--count', 'some'],
    ['registers', 'nothing'],
    ['registers', 'control', '--uf', '1'],
    ['doorbell', '--cpu', '9999'],
    ['doorbell', '--device', 'emu:?progress=stepped'],
  ];
  const described = firstCells('The command `hca`').map(
    (shown) =>
      new RegExp(
        shown
          .split('…')
          .map((part) => part.replaceAll(/[.?+()]/g, '\\$&'))
          .join('.*'),
      ),
  );
  it.each(mistakes)('hca %s %s %s', async (...words) => {
    const { error, exitCode } = await runHca(words);
    expect(exitCode).not.toBe(0);
    expect(error.trim().split('\n')).toHaveLength(1);
    expect(described.filter((each) => each.test(error))).toHaveLength(1);
  });
});
