// Ten minutes of device time under load with all observers watching: nothing is lost that is not counted, and memory stays as it is.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

import { testAddonPath } from '../helpers/test_addon.ts';

/** Memory in bytes at the end of a minute, and the number of rings that observers read. */
interface Memory {
  /** JavaScript heap after garbage collection. */
  readonly heap: number;
  /** Allocations of native code. */
  readonly allocated: number;
  readonly resident: number;
  readonly rings: number;
}

/** Printed by test/watch/ten_minutes.mjs. */
interface Report {
  readonly seen: Readonly<
    Record<'commands' | 'events' | 'page' | 'pageLost' | 'pageEvents' | 'kicks' | 'followed' | 'slow', number>
  >;
  readonly seconds: number;
  readonly lost: Readonly<Record<'kicks' | 'events' | 'slow', number>>;
  readonly memories: readonly Memory[];
}

const program = fileURLToPath(new URL('ten_minutes.mjs', import.meta.url));
const seed = 7;
const recordsOfCommand = 2;
/** The page watches kicks, completions and events of all functions; the slow observer watches the kicks of one. */
const ringsWatched = 4;
/** From this minute on every ring has wrapped, so all its pages are resident. */
const firstMinute = 3;
const kibibyte = 1024;

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;

describe('ten minutes of load, observed by a page, top, kicks and events,', { timeout: 600_000 }, () => {
  let report: Report;

  beforeAll(async () => {
    const words = ['--expose-gc', program, `${seed}`, testAddonPath()];
    const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 580_000 });
    report = JSON.parse(stdout) as Report;
  }, 600_000);

  it('deliver each kick and event to observers that read in time', () => {
    const { seen, lost, seconds } = report;
    expect(seconds).toBeGreaterThan(595);
    expect(seen.commands).toBe(120_000);
    expect([seen.page, seen.kicks]).toEqual([seen.commands, seen.commands]);
    expect(seen.events).toBe(600);
    expect([seen.pageEvents, seen.followed]).toEqual([seen.events, seen.events]);
    expect([seen.pageLost, lost.kicks, lost.events]).toEqual([0, 0, 0]);
  });

  it('count the lost records of a slow observer, so that each record is read or lost', () => {
    const { seen, lost } = report;
    const ofOneFunction = (seen.commands / 2) * recordsOfCommand;
    expect(seen.slow).toBe(ofOneFunction / 10); // in the first minute
    expect(seen.slow + lost.slow).toBe(ofOneFunction);
  });

  it.each<[keyof Memory, number]>([
    ['heap', 512 * kibibyte], // 11 B per command between the medians
    ['allocated', 64 * kibibyte],
    ['resident', 4096 * kibibyte],
  ])('leave memory constant: %s', (kind, most) => {
    const values = report.memories.slice(firstMinute).map((memory) => memory[kind]);
    const half = Math.floor(values.length / 2);
    expect(median(values.slice(-half)) - median(values.slice(0, half))).toBeLessThan(most);
  });

  it('use only the rings of the active watches', () => {
    expect(report.memories.map(({ rings }) => rings)).toEqual(report.memories.map(() => ringsWatched));
  });
});
