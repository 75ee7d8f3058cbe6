import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';

import { loadAddon, type BoardOptions } from '../../lib/board/addon.ts';
import type { RtlAddon } from '../../lib/board/rtl_addon.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { KickRecord, KickRecordRing } from '../../lib/driver/kick_records.ts';
import { KickRecordType, Opcode } from '../../lib/spec/index.ts';
import { runHca } from '../helpers/run_hca.ts';
import { requireTool } from '../helpers/tools.ts';
import { addonFile, buildAddon, runAlone } from './addon.ts';

const patient = { timeout: 900_000 };
const load = (target: string): RtlAddon => createRequire(import.meta.url)(addonFile(target)) as RtlAddon;

/** Posts four commands on a stepped board, `alone` of them singly and the rest in a batch; returns how many it sends. */
function sent(
  { EmulatedBoard, rtlSizes }: Partial<RtlAddon> & Pick<RtlAddon, 'EmulatedBoard'>,
  alone: number,
  options: BoardOptions = {},
): number {
  const board = new EmulatedBoard({
    ...rtlSizes,
    ...options,
    progress: 'stepped',
    queuePairs: 64,
    pageTableEntries: 4096,
    memoryKeys: 256,
  });
  const driver = new HcaDriver(board.open(0));
  const ring = new KickRecordRing(driver.device, 8);
  const { queuePair } = new UnansweredQueuePair(driver, { entries: 16, gatherEntries: 0, inlineBytes: 64 });
  const requests = [0, 1, 63, 64].map((length) => ({
    opcode: Opcode.send,
    inlineData: new Uint8Array(length),
  }));
  for (const request of requests.slice(0, alone)) queuePair.post(request);
  board.runUntilIdle(); // otherwise the batch's doorbell would have the device fetch them too
  if (alone < requests.length) queuePair.postBatch(requests.slice(alone));
  board.runUntilIdle();
  let count = 0;
  for (let record = new KickRecord(); ring.poll([record]) === 1; record = new KickRecord())
    count += record.type === KickRecordType.sent ? 1 : 0;
  driver.close();
  board.close();
  return count;
}

describe('a board with collect_buffer and virtual_kick in RTL', () => {
  it('behaves like an emulated board, and counts its clocks', patient, (context) => {
    requireTool('verilator', context);
    buildAddon('fpga_verbs_rtl');
    const rtl = load('fpga_verbs_rtl');
    const before = rtl.rtlCounters();
    expect(sent(rtl, 2)).toBe(4);
    const after = rtl.rtlCounters();
    expect(after.commandsStarted - before.commandsStarted).toBe(4);
    expect(after.clocks).toBeGreaterThan(before.clocks);
    expect(after.leastStartClocks).toBe(21);
    expect(after.commandsCollected - before.commandsCollected).toBe(2);
    expect(after.beatsTaken - before.beatsTaken).toBeGreaterThanOrEqual(2);
    expect(after.leastKickClocks).toBe(7);
    // The device fetches the commands of the batch: two beats of 64 B each.
    expect(after.beatsStored - before.beatsStored).toBe(4);
    expect(sent(rtl, 4, { scoreboardVariant: 'direct' })).toBe(4);
    expect(() => new rtl.EmulatedBoard({ ...rtl.rtlSizes, physicalCollectBuffers: 8 })).toThrow(
      'expected: 32',
    );
    expect(() => new rtl.EmulatedBoard({ transmitVirtualLanes: 64 })).toThrow('expected: at most 16');
  });

  it('fails with one bit of the RTL flipped, while an emulated board passes', patient, (context) => {
    requireTool('verilator', context);
    buildAddon('fpga_verbs_rtl_fault');
    expect(sent(load('fpga_verbs_rtl_fault'), 4)).toBe(0);
    expect(sent(loadAddon(), 4)).toBe(4);
  });

  it('passes the tests of emulated boards', patient, (context) => {
    requireTool('verilator', context);
    const { ok, output } = runAlone(['fpga/scripts/addon.mjs', '--test']);
    expect(ok, output).toBe(true);
    expect(stripVTControlCharacters(output)).toMatch(/Tests +\d\d+ passed/);
  });

  it('is named by hca info, and hca doorbell prints its clock cycles', patient, async (context) => {
    requireTool('verilator', context);
    const device = 'rtl:?pageTableEntries=1024&memoryKeys=256';
    const info = (await runHca(['info', '-v', '--device', device])).out;
    expect(info).toMatch(/blocks in RTL:? +collect_buffer, virtual_kick/);
    expect(info).toMatch(/beat at block ports:? +64 B/);
    const few = ['--iterations', '5', '--warmup', '1', '--size', '64'];
    const { out, exitCode, error } = await runHca(['doorbell', ...few, '--device', device]);
    expect(exitCode, error).toBe(0);
    expect(out).toMatch(/collect_buffer in RTL: \d+ clock cycles; from a first write to its kick 7 at least/);
    expect(out).toMatch(/virtual_kick in RTL: \d+ clock cycles; from a kick to its start 21 at least/);
  });
});
