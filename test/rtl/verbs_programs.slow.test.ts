// Debian's own programs, unmodified, over the library whose boards have blocks in RTL: two processes, each
// with its own board.
import { describe, expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { ownFabric, runEnds, startProgram } from '../helpers/verbs_program.ts';
import { buildAddon } from './addon.ts';
import { root } from './blocks.ts';

const ownRtlFabric = (): string => ownFabric().replace('emu:', 'rtl:');

// The time limit is for the build of the RTL.
describe('libibverbs programs on boards with blocks in RTL', { timeout: 900_000 }, () => {
  it.for([['ibv_rc_pingpong'], ['ibv_rc_pingpong', '-e'], ['ibv_ud_pingpong'], ['ibv_srq_pingpong']])(
    '%j succeeds',
    async ([program, ...words], context) => {
      requireTool('verilator', context);
      requireTool('ibv_rc_pingpong', context);
      buildAddon('ibverbs_rtl');
      for (const end of await runEnds(ownRtlFabric(), [program!, ...words, '-n', '50', '-c'])) {
        expect(end).toMatchObject({ exitCode: 0, error: '' });
        expect(end.out).toContain('50 iters in');
        expect(end.out).not.toContain('invalid data');
      }
    },
  );

  it('ib_write_lat succeeds', async (context) => {
    requireTool('verilator', context);
    requireTool('ib_send_lat', context);
    buildAddon('ibverbs_rtl');
    const [server, client] = await runEnds(ownRtlFabric(), ['ib_write_lat', '-F', '-n', '50', '-s', '64']);
    expect(server).toMatchObject({ exitCode: 0 });
    expect(client.out).toMatch(/^ 64 +50 +\d/m);
  });

  it('a board with blocks in RTL and a board of the model exchange messages', async (context) => {
    requireTool('verilator', context);
    requireTool('ibv_rc_pingpong', context);
    buildAddon('ibverbs_rtl');
    const model = ownFabric();
    const devices = [model, model.replace('emu:', 'rtl:')] as const;
    for (const end of await runEnds(devices, ['ibv_rc_pingpong', '-n', '50', '-c'])) {
      expect(end).toMatchObject({ exitCode: 0, error: '' });
      expect(end.out).not.toContain('invalid data');
    }
  });

  it('a board size that the RTL lacks is refused with a message', async (context) => {
    requireTool('verilator', context);
    requireTool('ibv_rc_pingpong', context);
    buildAddon('ibverbs_rtl');
    const { exitCode, error } = await startProgram('rtl:?queuePairs=512', ['ibv_devinfo']).ended;
    expect(exitCode).not.toBe(0);
    expect(error).toContain(
      'queuePairs is 512; expected: at most 256, which the RTL of this addon is made for',
    );
  });

  // Its collect_buffer waits for a DWORD that never arrives: the driver cancels each command when the limit
  // for half-written commands, one second, has passed, and posts it through the send queue.
  it('a fault in the RTL makes the program fail', async (context) => {
    requireTool('verilator', context);
    requireTool('ibv_rc_pingpong', context);
    buildAddon('ibverbs_rtl');
    buildAddon('ibverbs_rtl_fault');
    const library = `LD_LIBRARY_PATH=${root}build/Release/verbs_rtl_fault`;
    const words = ['env', '-u', 'LD_PRELOAD', library, 'ibv_rc_pingpong', '-n', '2', '-c'];
    const ends = await runEnds(ownRtlFabric(), words);
    // Four seconds, minus the time by which an end starts its clock late; without the fault, milliseconds.
    for (const { out } of ends)
      expect(Number(/2 iters in ([\d.]+) seconds/.exec(out)![1])).toBeGreaterThan(2);
  });
});
