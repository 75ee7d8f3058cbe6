import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/**
 * The result that a program prints at its end; its young generation is small, so that garbage becomes
 * visible.
 */
function said(program: string, ...words: string[]): unknown {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const options = ['--expose-gc', '--max-semi-space-size=1', '--max-old-space-size=256'];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...options, file, ...words], {
    encoding: 'utf8',
    timeout: 600_000,
  });
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

interface Garbage {
  /** Of the heap, bytes. */
  readonly grown: number;
  readonly collections: number;
}

it('a million operations are posted and polled without garbage', { timeout: 600_000 }, () => {
  const { grown, collections } = said('operation_program.mjs', '1000000') as Garbage;
  expect(collections).toBeLessThan(4); // the compiler leaves some; with 4 B per operation there were 4
  expect(grown).toBeLessThan(1_000_000); // less than a byte per operation
});

interface Holdings {
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly mappings: number;
}

function expectFlat(early: Holdings, late: Holdings): void {
  expect(late.threads).toBe(early.threads);
  expect(late.descriptors - early.descriptors).toBeLessThanOrEqual(2);
  expect(late.mappings - early.mappings).toBeLessThanOrEqual(30);
  expect(late.heapBytes - early.heapBytes).toBeLessThan(2 ** 21);
  expect(late.residentBytes - early.residentBytes).toBeLessThan(16 * 2 ** 20);
}

it.each([
  ['10000', 'shared', 'close'],
  ['2000', 'stepped', 'dispose'],
  ['100', 'own', 'close'],
])(
  '%s opens and closes leave memory, handles and threads unchanged, progress %s, by %s',
  { timeout: 600_000 },
  (times, progress, way) => {
    const { early, late } = said('open_program.mjs', times, progress, way) as {
      early: Holdings;
      late: Holdings;
    };
    expectFlat(early, late);
  },
);

it('10,000 connects and disconnects with traffic leave memory, handles and tables unchanged', () => {
  const { early, late, wrong } = said('connect_program.mjs', '10000') as {
    early: Holdings;
    late: Holdings;
    wrong: string[];
  };
  expect(wrong).toEqual([]);
  expectFlat(early, late);
});
