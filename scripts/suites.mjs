import path from 'node:path';

/**
 * Rows of the table of tests, from vitest's report: one for each folder of test/ and, where the tests of a folder name the
 * backend that they run on (`… on emu:…` in the outermost describe), one for each backend.
 */
export function suitesOf({ testResults }) {
  const rows = new Map();
  const rowOf = (suite, backend) => {
    const key = `${suite} ${backend}`;
    if (!rows.has(key)) rows.set(key, { suite, backend, passed: 0, failed: 0, skipped: 0, seconds: 0 });
    return rows.get(key);
  };
  for (const { name, assertionResults, status } of testResults) {
    const suite = path.relative('test', name).split(path.sep)[0];
    for (const { ancestorTitles, status: outcome, duration } of assertionResults) {
      const row = rowOf(suite, / on ([a-z]+:\S*)$/.exec(ancestorTitles[0] ?? '')?.[1] ?? '-');
      row[outcome === 'passed' || outcome === 'failed' ? outcome : 'skipped'] += 1;
      row.seconds += (duration ?? 0) / 1000;
    }
    // A file that could not be loaded has no tests.
    if (status === 'failed' && !assertionResults.some((each) => each.status === 'failed')) {
      rowOf(suite, '-').failed += 1;
    }
  }
  return [...rows.values()].sort((one, other) =>
    `${one.suite} ${one.backend}`.localeCompare(`${other.suite} ${other.backend}`),
  );
}
