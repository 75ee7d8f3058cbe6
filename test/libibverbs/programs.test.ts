// Debian's own programs, unmodified, over the library of this package: two processes, each with its own
// board.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { freeNetwork } from '../helpers/free_port.ts';
import { requireTool } from '../helpers/tools.ts';
import { ownFabric, runEnds, startEnds, startProgram } from '../helpers/verbs_program.ts';

describe('ibverbs-utils', () => {
  test('ibv_devices and ibv_devinfo', async (context) => {
    requireTool('ibv_rc_pingpong', context);
    const listed = await startProgram(ownFabric(), ['ibv_devices']).ended;
    expect(listed).toMatchObject({ exitCode: 0, error: '' });
    expect(listed.out).toMatch(/fpga0\s+020000fffe000020/);
    const { exitCode, out, error } = await startProgram(ownFabric(), ['ibv_devinfo', '-v']).ended;
    expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
    expect(out).toMatch(/hca_id:\s+fpga0/);
    expect(out).toMatch(/board_id:\s+fpga-verbs/);
    expect(out).toMatch(/atomic_cap:\s+ATOMIC_HCA/);
    expect(out).toMatch(/port_lid:\s+32\b/);
    expect(out).toMatch(/state:\s+PORT_ACTIVE/);
    expect(out).toMatch(/link_layer:\s+InfiniBand/);
    expect(out).toMatch(/GID\[ {2}0\]:\s+fe80:0000:0000:0000:0200:00ff:fe00:0020\b/);
  });

  test('ibv_devinfo on Ethernet: RoCE v2 and two GIDs', async (context) => {
    requireTool('ibv_rc_pingpong', context);
    const { exitCode, out } = await startProgram(ownFabric('linkLayer=ethernet'), ['ibv_devinfo', '-v'])
      .ended;
    expect(exitCode).toBe(0);
    expect(out).toMatch(/link_layer:\s+Ethernet/);
    expect(out).toMatch(/GID\[ {2}0\]:\s+fe80::f0:aff:fe00:1, RoCE v2/);
    expect(out).toMatch(/GID\[ {2}1\]:\s+::ffff:10\.0\.0\.1, RoCE v2/);
  });

  const cases = [
    ['ibv_rc_pingpong'],
    ['ibv_rc_pingpong', '-e'],
    ['ibv_rc_pingpong', '-t'],
    ['ibv_rc_pingpong', '-N'],
    ['ibv_rc_pingpong', '-m', '256', '-s', '100000'],
    ['ibv_uc_pingpong'],
    ['ibv_uc_pingpong', '-e'],
    ['ibv_ud_pingpong'],
    ['ibv_ud_pingpong', '-e'],
    ['ibv_srq_pingpong'],
    ['ibv_srq_pingpong', '-e'],
  ];
  test.for(cases)('%j', async ([program, ...words], context) => {
    requireTool('ibv_rc_pingpong', context);
    const check = words.includes('-t') ? [] : ['-c'];
    for (const end of await runEnds(ownFabric(), [program!, ...words, '-n', '200', ...check])) {
      expect(end).toMatchObject({ exitCode: 0, error: '' });
      expect(end.out).toContain('200 iters in');
      expect(end.out).not.toContain('invalid data');
    }
  });

  test.for(['0', '1'])('ibv_rc_pingpong on Ethernet, GID %s', async (gid, context) => {
    requireTool('ibv_rc_pingpong', context);
    const device = ownFabric('linkLayer=ethernet');
    for (const end of await runEnds(device, ['ibv_rc_pingpong', '-g', gid, '-n', '200', '-c'])) {
      expect(end).toMatchObject({ exitCode: 0, error: '' });
      expect(end.out).not.toContain('invalid data');
    }
  });

  test('ibv_rc_pingpong over UDP, each board with an address of its own', async (context) => {
    requireTool('ibv_rc_pingpong', context);
    const network = await freeNetwork();
    const words = ['ibv_rc_pingpong', '-g', '0', '-n', '200', '-c'];
    const devices = [1, 2].map((host) => `emu:?link=udp:${network}${host}`) as [string, string];
    for (const end of await runEnds(devices, words)) {
      expect(end).toMatchObject({ exitCode: 0, error: '' });
      expect(end.out).toContain(`GID ::ffff:${network}`);
      expect(end.out).not.toContain('invalid data');
    }
  });

  test('packets are lost, and captured: the data is correct', async (context) => {
    requireTool('ibv_rc_pingpong', context);
    const captures = `${mkdtempSync(path.join(tmpdir(), 'fpga-verbs-captures-'))}/`;
    onTestFinished(() => rmSync(captures, { recursive: true }));
    const device = `${ownFabric()}&linkLoss=0.02&seed=3&capture=${captures}{pid}.pcapng`;
    for (const end of await runEnds(device, ['ibv_rc_pingpong', '-n', '200', '-c'])) {
      expect(end).toMatchObject({ exitCode: 0, error: '' });
      expect(end.out).not.toContain('invalid data');
    }
    const sizes = readdirSync(captures).map((name) => statSync(captures + name).size);
    expect(sizes).toHaveLength(2);
    expect(Math.min(...sizes)).toBeGreaterThan(200 * 2 * 4096);
  });

  test('without a GID on Ethernet, --explain prints the remedy', async (context) => {
    requireTool('ibv_rc_pingpong', context);
    const [server] = await runEnds(ownFabric('linkLayer=ethernet'), ['ibv_rc_pingpong', '-n', '1']);
    expect(server.exitCode).toBe(1);
    expect(server.error).toContain('on Ethernet (RoCE) an address has a GID');
  });

  test('three pairs on one fabric at a time', async (context) => {
    requireTool('ibv_rc_pingpong', context);
    const device = ownFabric();
    const words = ['ibv_rc_pingpong', '-n', '200', '-c'];
    const runs = await Promise.all([runEnds(device, words), runEnds(device, words), runEnds(device, words)]);
    for (const end of runs.flat()) expect(end).toMatchObject({ exitCode: 0, error: '' });
    for (const [server, client] of runs) {
      const [own, others] = ['local', 'remote'].map((end) => new RegExp(`${end} address: +LID (0x\\w+)`));
      expect(own!.exec(server.out)![1]).toBe(others!.exec(client.out)![1]);
      expect(own!.exec(server.out)![1]).not.toBe(own!.exec(client.out)![1]);
    }
  });

  test('ibv_asyncwatch waits for events, and ends on a signal', async (context) => {
    requireTool('ibv_rc_pingpong', context);
    const watch = startProgram(ownFabric(), ['ibv_asyncwatch']);
    await watch.hasSaid('async event FD');
    watch.kill('SIGTERM');
    expect((await watch.ended).exitCode).toBe(128 + 15);
  });

  test('kill -9 of one end: the other end survives, and others on the fabric continue', async (context) => {
    requireTool('ibv_rc_pingpong', context);
    const device = ownFabric();
    // stdbuf: the test sees the lines before the program ends.
    const { server, client } = await startEnds(device, [
      'stdbuf',
      '-oL',
      'ibv_rc_pingpong',
      '-n',
      '100000000',
    ]);
    await Promise.all([server.hasSaid('remote address'), client.hasSaid('remote address')]);
    const program = client.childOf();
    process.kill(program, 'SIGKILL');
    expect((await client.ended).exitCode).toBe(128 + 9);
    for (const end of await runEnds(device, ['ibv_rc_pingpong', '-n', '200', '-c']))
      expect(end).toMatchObject({ exitCode: 0, error: '' });
    server.kill('SIGTERM');
    expect([1, 128 + 15]).toContain((await server.ended).exitCode);
  });
});

describe('perftest', () => {
  const latencies = ['ib_send_lat', 'ib_write_lat', 'ib_read_lat', 'ib_atomic_lat'];
  const bandwidths = ['ib_send_bw', 'ib_write_bw', 'ib_read_bw', 'ib_atomic_bw'];
  test.for([...latencies, ...bandwidths])('%s', async (program, context) => {
    requireTool('ib_send_lat', context);
    const size = program.includes('atomic') ? [] : ['-s', '4096'];
    const [server, client] = await runEnds(ownFabric(), [program, '-F', '-n', '200', ...size]);
    expect(server).toMatchObject({ exitCode: 0 });
    expect(client).toMatchObject({ exitCode: 0 });
    expect(client.error).not.toContain('fpga-verbs:');
    const bytes = program.includes('atomic') ? '8' : '4096';
    expect(client.out).toMatch(new RegExp(`^ ${bytes} +200 +\\d`, 'm'));
  });

  test.for([
    ['ib_send_lat', '-c', 'UD', '-s', '1024'],
    ['ib_send_lat', '-c', 'UC'],
    ['ib_read_lat', '-e'],
    ['ib_send_bw', '-e'],
    ['ib_send_bw', '-b'],
    ['ib_send_bw', '-r', '64', '-q', '4'],
    ['ib_write_bw', '-a'],
    ['ib_write_bw', '-q', '8', '-I', '64'],
    ['ib_send_lat', '--use-srq'],
  ])('%j', async (words, context) => {
    requireTool('ib_send_lat', context);
    for (const end of await runEnds(ownFabric(), [...words, '-F', '-n', '200']))
      expect(end).toMatchObject({ exitCode: 0 });
  });
});
