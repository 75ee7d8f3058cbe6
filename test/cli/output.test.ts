import { afterEach, describe, expect, it, vi } from 'vitest';

import { lines } from '../../lib/cli/output/lines.ts';
import { Output } from '../../lib/cli/output/output.ts';
import { byteRateText, rateText } from '../../lib/cli/observe/numbers.ts';
import { gidText } from '../../lib/watch/gid_text.ts';

function written(isTerminal: boolean, write: (output: Output) => void): string {
  let text = '';
  write(
    new Output(
      {
        out: (part) => {
          text += part;
        },
        error: () => {},
        outIsTerminal: isTerminal,
      },
      false,
    ),
  );
  return text;
}

describe('colors', () => {
  afterEach(() => void vi.unstubAllEnvs());
  const write = (output: Output): void => {
    output.table('A B\n1 2\n');
    output.bars('██ 3\n');
  };

  it('appear only on a color terminal, for titles and bars', () => {
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('TERM', 'xterm');
    expect(written(true, write)).toBe('\x1b[1mA B\x1b[0m\n1 2\n\x1b[36m██\x1b[0m 3\n');
  });

  it.each([
    ['where nothing is a terminal', false, '', 'xterm'],
    ['with NO_COLOR', true, '1', 'xterm'],
    ['on a terminal without', true, '', 'dumb'],
  ])('are absent %s', (_, isTerminal, noColor, terminal) => {
    vi.stubEnv('NO_COLOR', noColor);
    vi.stubEnv('TERM', terminal);
    expect(written(isTerminal, write)).toBe('A B\n1 2\n██ 3\n');
  });
});

describe('numbers of a second', () => {
  it.each([
    [undefined, '-', '-'],
    [0, '0', '0 B/s'],
    [0.25, '0.3', '0 B/s'],
    [999, '999', '999 B/s'],
    [12_345, '12,345', '12.3 kB/s'],
    [999_960, '1.00M', '1.00 MB/s'],
    [123_456_789, '123M', '123 MB/s'],
    [9_994_000_000, '9.99G', '9.99 GB/s'],
  ])('%j is %s, and in bytes %s', (value, count, bytes) => {
    expect([rateText(value), byteRateText(value)]).toEqual([count, bytes]);
    expect(count.length).toBeLessThanOrEqual(7);
  });
});

it('words wrap at 80 columns, aligned to the first', () => {
  const text = lines('stalls of 1: ', ['a'.repeat(40), 'b'.repeat(40), 'c']);
  expect(text).toBe(`stalls of 1: ${'a'.repeat(40)},\n${' '.repeat(13)}${'b'.repeat(40)}, c\n`);
  expect(lines('x: ', [])).toBe('x:\n');
});

it.each([
  ['fe80::f0:aff:fe00:3', 'fe8000000000000000f00afffe000003'],
  ['10.0.0.1', '00000000000000000000ffff0a000001'],
  ['::1', '00000000000000000000000000000001'],
  ['2001:db8::1:0:0:1', '20010db8000000000001000000000001'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['::', '0'.repeat(32)],
])('a GID is written as %s', (text, hex) => {
  expect(gidText(Uint8Array.from(Buffer.from(hex, 'hex')))).toBe(text);
});
