import { describe, expect, it } from 'vitest';

import { summaryOf } from './suite.ts';

const test = (fullName: string, status: string, ...failureMessages: string[]): object => ({
  fullName,
  status,
  failureMessages,
});
const file = (name: string, ...assertionResults: object[]): object => ({
  name: `/repo/build/guest_suite/${name}`,
  message: `${name} cannot be loaded`,
  assertionResults,
});
const refusal =
  'VerbsError: memory of the process has no stable DMA address, because the function has no IOMMU';

describe('the summary of the tests in a virtual machine', () => {
  it('separates passed tests, failed tests, and those left out, by reason', () => {
    const report = {
      testResults: [
        file(
          'a.test.mjs',
          test('a on pci:x works', 'passed'),
          test('a on pci:x fails', 'failed', 'Error: no'),
        ),
        file(
          'b.test.mjs',
          test('b on pci:x maps', 'failed', refusal),
          test('b on pci:x asks', 'failed', 'LeftOutError: left out: it asks for more'),
          test('b alone', 'skipped'),
        ),
      ],
    };
    expect(summaryOf(JSON.stringify(report), ['a.test.mjs', 'b.test.mjs'])).toEqual({
      passed: 1,
      failed: ['a on pci:x fails: Error: no'],
      leftOut: {
        'the test registers memory of the process, which pci: refuses': ['b on pci:x maps'],
        'it asks for more': ['b on pci:x asks'],
      },
    });
  });

  it('counts tests that did not run, end or load as failed', () => {
    const report = {
      testResults: [
        file('a.test.mjs', test('a on vfio:x works', 'passed'), test('a on vfio:x hangs', 'pending')),
        file('b.test.mjs'),
      ],
    };
    const { passed, failed } = summaryOf(JSON.stringify(report), ['a.test.mjs', 'b.test.mjs', 'c.test.mjs']);
    expect(passed).toBe(1);
    expect(failed).toEqual([
      'c.test.mjs: it did not run',
      'a on vfio:x hangs: it is pending',
      'b.test.mjs cannot be loaded',
    ]);
  });
});
