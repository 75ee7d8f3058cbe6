import { describe, expect, it } from 'vitest';

import { loadAddon, type BoardOptions } from '../../lib/board/addon.ts';
import type { FaultRule } from '../../lib/board/faults.ts';
import { readRegions } from '../../lib/board/regions.ts';
import { runCommandLine } from '../../lib/cli/command_line.ts';
import { openDevice } from '../../lib/index.ts';
import { RegionType, UNDERLYING_FUNCTION_STATUS_OFFSET } from '../../lib/spec/index.ts';
import { runHca } from '../helpers/run_hca.ts';

const small = 'queuePairs=64&pageTableEntries=4096&memoryKeys=256';
const options: BoardOptions = { queuePairs: 64, pageTableEntries: 4096, memoryKeys: 256 };
const steps = [
  'identity',
  'registers',
  'management',
  'collect',
  'kick',
  'DMA',
  'interrupt',
  'loopback',
] as const;
type StepName = (typeof steps)[number];

interface Selftest {
  readonly passed: boolean;
  readonly steps: readonly { readonly name: string; readonly passed: boolean }[];
}

describe('hca selftest', () => {
  it.each([
    `emu:?${small}`,
    `emu:?progress=own&${small}`,
    `emu:3?${small}`,
    `emu:?scoreboardVariant=direct&${small}`,
    `emu:?doubleWordOnly=true&mapping=uncached&${small}`,
    `emu:?mapping=adversarial&linkLayer=infiniband&${small}`,
  ])('brings up %s', async (device) => {
    const { exitCode, error, json } = await runHca(['selftest', '--device', device, '--json']);
    expect(error).toBe('');
    expect(exitCode).toBe(0);
    const [told] = json() as [Selftest];
    expect(told).toMatchObject({ device, passed: true });
    expect(told.steps.map(({ name, passed }) => [name, passed])).toEqual(steps.map((name) => [name, true]));
  });

  it('prints help', async () => {
    const { out } = await runHca(['selftest', '--help']);
    expect(out).toContain('Examples:\n  hca selftest');
  });

  it.each([
    [['--timeout', '0'], 2, /It must be a whole number from 1/],
    [
      ['--device', 'emu:?progress=stepped'],
      1,
      /virtual time: .*expected: progress=own or progress=shared\n$/,
    ],
    [['--device', 'emu:9'], 1, /function 9 does not exist/],
  ])('%j fails in one line', async (words, exitCode, error) => {
    const run = await runHca(['selftest', ...words]);
    expect(run.exitCode).toBe(exitCode);
    expect(run.error).toMatch(error);
    expect(run.error.trimEnd()).not.toContain('\n');
  });

  it('does not access a function that has a driver', async () => {
    const name = 'selftest-in-use';
    const context = openDevice(`emu:0?name=${name}`);
    try {
      const { exitCode, out, error } = await runHca(['selftest', '--device', `emu:0?name=${name}`]);
      expect(exitCode).toBe(1);
      expect(out).toMatch(/^identity \.+ FAILED: underlying function 0 already has a driver\n$/);
      expect(error).toMatch(/^hca: identity failed: .*; look at: .*no other driver bound/);
      expect(context.queryDevice().underlyingFunction).toBe(0);
    } finally {
      context[Symbol.dispose]();
    }
  });

  it('ends on an interrupt', async () => {
    expect(await runHca(['selftest'], AbortSignal.abort())).toMatchObject({
      exitCode: 1,
      error: 'hca: interrupted\n',
    });
  });
});

/** Regions of the boards in this file. */
const regions = ((): ReturnType<typeof readRegions> => {
  const board = new (loadAddon().EmulatedBoard)(options);
  try {
    return readRegions(board.open(0));
  } finally {
    board.close();
  }
})();
const regionOf = (type: RegionType): (typeof regions)[0] => regions.find((region) => region.type === type)!;
const commandBar = regionOf(RegionType.virtualCollectBuffer).bar;
const functionPage = regionOf(RegionType.underlyingFunction);
const status = functionPage.offset + UNDERLYING_FUNCTION_STATUS_OFFSET;

let boards = 0;

/** Runs a selftest on a board that gets a fault after the given step has passed. */
async function selftestWith(
  after: StepName | undefined,
  rule: FaultRule,
): Promise<{ readonly out: string; readonly error: string; readonly exitCode: number }> {
  boards += 1;
  const name = `selftest-${boards}`;
  const board = new (loadAddon().EmulatedBoard)({ ...options, name });
  let [out, error] = ['', ''];
  try {
    if (after === undefined) board.inject(rule);
    const exitCode = await runCommandLine(
      ['selftest', '--timeout', '100', '--device', `emu:0?name=${name}&${small}`],
      {
        out: (text) => {
          out += text;
          if (text.startsWith(`${after} `)) board.inject(rule);
        },
        error: (text) => {
          error += text;
        },
      },
      new AbortController().signal,
    );
    return { out, error, exitCode };
  } finally {
    board.close();
  }
}

describe('hca selftest reports the failed step, and where to look', () => {
  it.each([
    [
      'identity',
      { kind: 'read_all_ones', count: 0 },
      /all ones are read back/,
      /power and link of the board/,
    ],
    [
      'registers',
      { kind: 'read_all_ones', bar: functionPage.bar, begin: status, end: status + 4, count: 0 },
      /underlying_function\.status reads 0xffffffff, with undefined bits set/,
      /the region table/,
    ],
    [
      'registers',
      { kind: 'drop', bar: functionPage.bar },
      /kick_record_address reads 0x0{16} after 0x5{13}000 was written/,
      /writes to BAR 0/,
    ],
    [
      'registers',
      { kind: 'tear', bar: functionPage.bar, doubleWords: 1 },
      /kick_record_address reads 0x0{16} after/,
      /8 B writes that arrive in two halves/,
    ],
    [
      'collect',
      { kind: 'drop', bar: commandBar },
      /row 1, segments at 0x10 to 0x10: the VCB is free, so no write arrived/,
      /mapping of the virtual collect buffers/,
    ],
    [
      'collect',
      { kind: 'tear', bar: commandBar, nth: 1, doubleWords: 0b1111_1101 },
      /row 2, .*: the scoreboard has 0x00000000e4, not 0x00000000f4; incomplete segments: 0x20$/m,
      /byte enables/,
    ],
    [
      'kick',
      { kind: 'tear', bar: commandBar, doubleWords: 0b1 },
      /row 6, .*: the command is complete but was not kicked; incomplete segments: 0x40/,
      /scoreboard, mask, kick/,
    ],
    [
      'DMA',
      { kind: 'fault_dma', count: 0 },
      /no record of a kicked command arrived; the device counts [1-9]\d* DMA faults/,
      /bus mastering enabled, the IOMMU/,
    ],
    ['interrupt', { kind: 'lose_interrupt', count: 0 }, /MSI-X vector 0 was not signaled/, /MSI-X enabled/],
    [
      'loopback',
      { kind: 'drop', bar: commandBar, count: 0 },
      /SEND: not done within 100 ms/,
      /loopback and packet/,
    ],
  ] as const)('%s: %j', async (step, rule, detail, advice) => {
    const { out, error, exitCode } = await selftestWith(steps[steps.indexOf(step) - 1], rule);
    expect(exitCode).toBe(1);
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual(steps.slice(0, steps.indexOf(step) + 1));
    expect(lines.at(-1)).toMatch(/ FAILED: /);
    expect(lines.at(-1)).toMatch(detail);
    expect(error).toMatch(new RegExp(`^hca: ${step} failed: `));
    expect(error.slice(error.indexOf('; look at: '))).toMatch(advice);
    expect(error.trimEnd()).not.toContain('\n');
  });

  it('reports the failure in JSON too', async () => {
    const run = await runHca([
      'selftest',
      '--device',
      `emu:1?name=selftest-without-control&${small}`,
      '--json',
    ]);
    expect(run.exitCode).toBe(1);
    expect(run.json()).toMatchObject([
      {
        passed: false,
        steps: [
          { passed: true },
          { passed: true },
          { name: 'management', passed: false, advice: expect.any(String) as string },
        ],
      },
    ]);
  });

  it('management: DMA refused', async () => {
    const { out, error } = await selftestWith('registers', { kind: 'fault_dma', count: 0 });
    expect(out).toMatch(/^management \.+ FAILED: /m);
    expect(error).toMatch(/look at: bus mastering and the IOMMU/);
  }, 20_000);
});
