import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** How the tests in the guest open a board. */
export type SuiteBackend = 'pci' | 'vfio';

/** The files that run in CI, which has no time for all: posting, kick records, completion waits and events. */
const chosen = ['driver/kicks', 'driver/post', 'verbs/completion_channel', 'verbs/solicited'].map(
  (name) => `test/${name}.test.ts`,
);
const folders = ['test/driver', 'test/verbs', 'test/connect'];
const ofBackend = / on (pci|vfio):/;
const onBackends = /describe(OnBackends|InProcess|Connections)\(/;

/** Files with tests that run on any backend. @param isWhole all of them */
export function filesOf(root: string, isWhole: boolean): string[] {
  const all = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const found = all.filter((file) => onBackends.test(readFileSync(path.join(root, file), 'utf8')));
  return found.filter((file) => isWhole || chosen.includes(file));
}

/** Reasons why a board on PCIe cannot pass a test, by the message of the failure. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/: LeftOutError: left out: (.*)/, ''],
  [
    /: VerbsError: memory of the process has no stable DMA address/,
    'the test registers memory of the process, which pci: refuses',
  ],
];

function reasonOf(failure: string): string | undefined {
  for (const [said, reason] of reasons) {
    const found = said.exec(failure);
    if (found !== null) return found[1] ?? reason;
  }
  return undefined;
}

/** Result of the tests. */
export interface SuiteSummary {
  readonly passed: number;
  /** Names and messages. */
  readonly failed: readonly string[];
  /** Names by the reason why a board on PCIe cannot pass them. */
  readonly leftOut: Readonly<Record<string, readonly string[]>>;
}

interface Report {
  readonly testResults: readonly {
    /** Path of the file. */
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * Counts the tests in a report of vitest's JSON reporter. A file that the report lacks because its thread did
 * not start counts as failed, and so does a test of the backend that neither passed nor failed.
 * @param files names of the files to run
 */
export function summaryOf(report: string, files: readonly string[]): SuiteSummary {
  const { testResults } = JSON.parse(report) as Report;
  const ran = new Set(testResults.map(({ name }) => path.basename(name)));
  const failed = files.filter((name) => !ran.has(name)).map((name) => `${name}: it did not run`);
  const leftOut: Record<string, string[]> = {};
  let passed = 0;
  for (const { message, assertionResults } of testResults) {
    if (assertionResults.length === 0) failed.push(message);
    for (const { fullName, status, failureMessages } of assertionResults) {
      const reason = reasonOf(`${fullName}: ${failureMessages[0] ?? ''}`);
      if (status === 'passed') passed += 1;
      else if (status === 'failed' && reason !== undefined) (leftOut[reason] ??= []).push(fullName);
      else if (status === 'failed') failed.push(`${fullName}: ${failureMessages.join('\n')}`);
      else if (ofBackend.test(fullName)) failed.push(`${fullName}: it is ${status}`);
    }
  }
  return { passed, failed, leftOut };
}
