import { beforeEach, describe, expect, it } from 'vitest';

import { loadRtlAddon } from '../../lib/board/index.ts';
import { openDevice } from '../../lib/index.ts';
import { runHca } from '../helpers/run_hca.ts';
import { closing } from '../helpers/backends.ts';
import { requireTool } from '../helpers/tools.ts';
import { buildAddon } from './addon.ts';

const sizes = 'pageTableEntries=8192&memoryKeys=256';
const device = (progress = 'shared'): string[] => ['--device', `rtl:?${sizes}&progress=${progress}`];
const few = ['-n', '20', '--chk'];

/** The output of a successful run without error messages. */
async function printed(words: readonly string[], board: readonly string[]): Promise<string> {
  const { exitCode, out, error } = await runHca([...words, ...board]);
  expect([words, error, exitCode]).toEqual([words, '', 0]);
  return out;
}

/** The output of a run that clocked the RTL. */
async function printedByRtl(words: readonly string[], board = device()): Promise<string> {
  const { rtlCounters } = loadRtlAddon()!;
  const before = rtlCounters().clocks;
  const out = await printed(words, board);
  expect(rtlCounters().clocks, words[0]).toBeGreaterThan(before);
  return out;
}

const timeLimit = 900_000;

// hca info and hca doorbell are in board.slow.test.ts; hca demo and hca serve have emulated boards of their own.
describe('on a board with blocks in RTL,', { timeout: timeLimit }, () => {
  let isBuilt = false;
  beforeEach((context) => {
    requireTool('verilator', context);
    if (!isBuilt) buildAddon('fpga_verbs_rtl');
    isBuilt = true;
  }, timeLimit);

  it('hca registers prints registers', async () => {
    const names = [
      'identity.magic',
      'control.lane_state',
      'control.inspect_virtual_collect_buffer',
      'status',
    ];
    expect(await printedByRtl(['registers', ...names])).toMatch(
      /^identity\.magic: +0x43485646 [^]*control\.lane_state\[15\]: [^]*underlying_function\.status: +0x00000001\n/,
    );
    expect(await printedByRtl(['registers'])).toContain('control.shared_execution_credits');
  });

  it('hca kicks prints the kicks that the RTL counts', async () => {
    const { rtlCounters } = loadRtlAddon()!;
    const before = rtlCounters().commandsCollected;
    const lines = (await printedByRtl(['kicks', '--count', '7'])).trimEnd().split('\n');
    expect(lines.slice(3).map((line) => line.split(/ +/).slice(3, 7))).toEqual(
      [0, 32, 64, 96, 128, 256, 0].map((bytes, index) => [`${index}`, 'send', `${bytes}`, 'pcb']),
    );
    expect(rtlCounters().commandsCollected - before).toBeGreaterThanOrEqual(lines.length - 3);
  });

  it.each(['rc', 'uc', 'ud', 'srq'])('hca pingpong %s checks the received data', async (service) => {
    for (const events of [[], ['--events']]) {
      const depth = service === 'srq' ? '20' : '2';
      const out = await printedByRtl(['pingpong', service, ...few, '-r', depth, ...events]);
      expect(out).toMatch(/\d+ bytes in .*\n20 iters in /);
    }
  });

  it.each(['send', 'write', 'read', 'atomic'])('hca lat and hca bw measure %s', async (operation) => {
    for (const progress of ['shared', 'own']) {
      expect(await printedByRtl(['lat', operation, ...few], device(progress))).toMatch(/t_min[^]*\n\d+ +20 /);
      expect(await printedByRtl(['bw', operation, ...few, '-t', '8'], device(progress))).toMatch(
        /BW peak[^]*\n\d+ +20 /,
      );
    }
  });

  it.each(['shared', 'own'])('hca selftest brings up the board, progress %s', async (progress) => {
    expect(await printedByRtl(['selftest'], device(progress))).not.toContain('FAILED');
  });

  it('hca resources prints and divides the resources', async () => {
    const shown = (await printedByRtl(['resources', 'show'])).split('\n').map((line) => line.split(/\s+/));
    expect(shown[1]).toEqual(['0', '0-7', '0', '0', '4', '0', '0', '40', '0']);
    const changes = ['7.pcbs=2', '1.pcbs=6', '1.tvls=lanes:1,12', '1.vcbs=6', 'lane1.listSize=9'];
    const divided = (await printedByRtl(['resources', 'set', ...changes]))
      .split('\n')
      .map((line) => line.split(/\s+/));
    expect(divided[2]).toEqual(['1', '8-13', '0', '0', '6', '0', '0', '40', '1,12']);
  });

  // These commands only observe, and do not clock the RTL.
  it('hca why and hca top observe a running application', async () => {
    const named = `rtl:0?name=rtl-looked-at&${sizes}`;
    const context = openDevice(named);
    closing({ close: () => context[Symbol.dispose]() });
    const completionQueue = context.createCompletionQueue();
    const { number } = context.createProtectionDomain().createQueuePair({
      type: 'RC',
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
    });
    expect(await printed(['why', `${number}`], ['--device', named])).toMatch(
      /^queue pair 0x\w+ of function 0: reset/,
    );
    expect(await printed(['top', '--count', '1'], ['--device', named])).toMatch(/\n0 +- +- +\d\/8 /);
  });
});
