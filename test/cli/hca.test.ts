import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';

import { openDevice } from '../../lib/index.ts';
import { runHca } from '../helpers/run_hca.ts';

const small = 'queuePairs=64&pageTableEntries=1024&memoryKeys=256';

describe('hca', () => {
  it('prints help with examples, for each of its commands too', async () => {
    const { exitCode, out } = await runHca(['--help']);
    expect(exitCode).toBe(0);
    expect(out).toContain('Exit codes: 0 success, 1 failure, 2 wrong usage.');
    for (const command of [
      'list',
      'info',
      'registers',
      'kicks',
      'top',
      'qps',
      'regions',
      'events',
      'counters',
      'capture',
      'watch',
      'doorbell',
      'lat',
      'bw',
      'serve',
      'selftest',
    ]) {
      const help = await runHca([command, '--help']);
      expect(help.exitCode).toBe(0);
      expect(help.out).toContain(`Examples:\n  hca ${command}`);
      expect(help.out).toMatch(/--json[^]*\nJSON: [[{a]/);
    }
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect((await runHca(['--version'])).out).toBe(`${version}\n`);
  });

  it.each([
    [['frobnicate'], 2, "hca: unknown command 'frobnicate'; see hca --help\n"],
    [['info', '--color'], 2, "hca: unknown option '--color'; see hca info --help\n"],
    [
      ['kicks', '--count', '0'],
      2,
      /^hca: option '--count <kicks>' argument '0' is invalid. It must be a whole number from 1.\n$/,
    ],
    [['doorbell', '--size', '257'], 2, /It must be a multiple of 4 from 0 to 256.\n$/],
    [['info', '--device', 'usb:1'], 1, /^hca: device "usb:1": no backend "usb"; expected: one of emu:.*\n$/],
    [['info', '--device', 'emu:8'], 1, 'hca: underlying function 8 does not exist: the board has 8\n'],
    [
      ['info', '--device', 'emu:1?name=without-control'],
      1,
      'hca: the device is not enabled; expected: underlying function 0 open: it gives the device its memory and enables it\n',
    ],
    [['info', '--device', 'vfio:0000:01:00.0'], 1, /there is no PCI function 0000:01:00.0/],
    [['doorbell', '--device', 'emu:?progress=stepped'], 1, /virtual time: there is no latency.*progress=own/],
    [['registers', 'garbage'], 1, /^hca: no block or register is named garbage; expected: identity,/],
    [['registers', 'control.garbage'], 1, /no register in control is named garbage; there are control, half/],
  ])('%j fails in one line', async (words, exitCode, error) => {
    const run = await runHca(words);
    expect(run.exitCode).toBe(exitCode);
    expect(run.out).toBe('');
    if (typeof error === 'string') expect(run.error).toBe(error);
    else expect(run.error).toMatch(error);
    expect(run.error.trimEnd()).not.toContain('\n');
  });

  it('uses the device of the environment', async () => {
    vi.stubEnv('FPGA_VERBS_DEVICE', `emu:?progress=own&${small}`);
    try {
      expect((await runHca(['info'])).out).toContain('progress:             own: the device spins');
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('hca list', () => {
  it('lists the emulated board', async () => {
    expect((await runHca(['list'])).out).toMatch(
      /^DEVICE +WHAT IT IS\nemu: +emulated board in this process\n/,
    );
    expect((await runHca(['list', '--json'])).json()).toEqual([
      [{ device: 'emu:', backend: 'emu', description: 'emulated board in this process', obstacles: [] }],
    ]);
  });
});

describe('hca info', () => {
  it('identifies the board and its backend', async () => {
    const { out } = await runHca(['info', '--device', `emu:?${small}`]);
    expect(out).toContain('board:                fpga-verbs emulated board\n');
    expect(out).toContain('blocks in RTL:        none: all blocks are the model\n');
    expect(out).toContain('write-combining: up to 64 B a transaction, any order between fences\n');
    expect(out).not.toContain('max_qp');
  });

  it('opens a guest function of a board of its own', async () => {
    const { out } = await runHca(['info', '--device', `emu:3?${small}`]);
    expect(out).toContain('underlying function:  3 of 8\n');
  });

  it('prints more with -v', async () => {
    const { out } = await runHca([
      'info',
      '-v',
      '--device',
      `emu:?mapping=uncached&scoreboardVariant=direct&${small}`,
    ]);
    expect(out).toContain('uncached: 8 B a transaction, in order\n');
    expect(out).toMatch(/max_qp: +62\n/);
    expect(out).toMatch(/local_ca_ack_delay: +15\n/);
    expect(out).toMatch(/max_sge: +16\n[^]*max_qp_rd_atom: +16\n/);
    expect(out).toMatch(
      /^ {2}port: +1\n {4}state: +PORT_ACTIVE \(4\)\n {4}phys_state: +LINK_UP \(5\)\n {4}max_mtu: +4096 \(5\)\n/m,
    );
    expect(out).toMatch(/^ {4}link_layer: +Ethernet\n {4}mac: +02:f0:0a:00:00:\d\d\n/m);
    expect(out).toMatch(/^ {4}GID\[0\]: +fe80::f0:aff:fe00:\d, RoCE v2\n/m);
    expect(out).toMatch(/^ {4}P_Key\[0\]: +0xffff\n/m);
    const ports = out.slice(out.indexOf('  port: ')).split('\n\n')[0]!;
    expect(Math.max(...ports.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(out).toMatch(/scoreboard variant: +direct\n/);
    expect(out).toMatch(
      /region virtualCollectBuffer: +BAR 2 \+ 0x0, 1048576 B, 256 × 4096 B, prefetchable\n/,
    );
  });

  it('as JSON', async () => {
    const [info] = (await runHca(['info', '--json', '--device', `emu:?${small}`])).json();
    expect(info).toMatchObject({
      device: `emu:?${small}`,
      underlyingFunction: 0,
      identity: { version: { major: 1, minor: 0 }, queuePairs: 64 },
      limits: { queuePairs: 62 },
      board: { backend: 'emu', progress: 'shared' },
      regions: [
        { type: 'identity' },
        { type: 'control' },
        { type: 'underlyingFunction' },
        { type: 'virtualCollectBuffer' },
      ],
      ports: [
        { state: 'PORT_ACTIVE', activeMtu: 4096, linkLayer: 'Ethernet', gids: [{ index: 0 }, { index: 1 }] },
      ],
    });
  });
});

describe('hca registers', () => {
  it('writes a register, warns, and shows the new value', async () => {
    const device = ['--device', `emu:?${small}`];
    const written = await runHca([
      'registers',
      'control.half_written_limit=0x1234',
      'queuing_structure_address[1]=4096',
      'management_unlock=0',
      '--write',
      ...device,
    ]);
    expect([written.exitCode, written.error]).toEqual([
      0,
      expect.stringMatching(/^hca: warning: values are written as given/),
    ]);
    expect(written.out).toMatch(/control\.half_written_limit: +0x0000000000001234 {2}\(4660 clock ticks\)/);
    expect(written.out).toMatch(/queuing_structure_address\[1\]: +0x0000000000001000/);
    expect(written.out).not.toContain('management_unlock');
  });

  it.each([
    [['control.half_written_limit=1'], /can stop the device .*; expected: --write, to confirm/],
    [
      ['kicks=1', '--write'],
      /underlying_function\.kicks can only be read; expected: a register of access rw/,
    ],
    [['port_control[2]=1', '--write'], /control\.port_control has no element 2; expected: 0 to 1/],
    [['port_control=0x100000000', '--write'], /does not hold 4294967296; expected: 0 to 0xffffffff/],
    [['port_control=on', '--write'], /port_control=on sets no register; expected: NAME=VALUE/],
    [['garbage=1', '--write'], /no block or register is named garbage/],
    [['control.control=0', '--uf', '3', '--write'], /control registers belong to underlying function 0/],
  ])('%j writes nothing', async (words, error) => {
    const run = await runHca(['registers', ...words, '--device', `emu:?${small}`]);
    expect([run.exitCode, run.out]).toEqual([1, '']);
    expect(run.error).toMatch(error);
    expect(run.error).not.toContain('warning');
  });

  it('decodes a register given by full or short name', async () => {
    const { out } = await runHca([
      'registers',
      'identity.magic',
      'status',
      'kicks',
      '--device',
      `emu:?${small}`,
    ]);
    expect(out).toMatch(/^identity\.magic: +0x43485646 {2}\(1128814150\)\n/);
    expect(out).toMatch(
      /underlying_function\.status: +0x00000001\n {2}enabled: +1\n {2}reset_in_progress: +0\n/,
    );
    expect(out).toMatch(/underlying_function\.kicks: +0x0000000000000000 {2}\(0 events\)\n/);
  });

  it('names values of enums, and elements that are not zero', async () => {
    const { out } = await runHca(['registers', 'identity.region', '--device', `emu:?${small}`]);
    expect(out).toMatch(/identity\.region\[0\]: +0x00000001\n {2}type: +identity\n/);
    expect(out).toMatch(/identity\.region\[3\]: +0x00010204\n {2}type: +virtualCollectBuffer\n {2}bar: +2\n/);
    expect(out).not.toContain('region[4]');
  });

  it('shows all registers of the function without side effects', async () => {
    const { out, exitCode } = await runHca(['registers', '--device', `emu:?${small}`]);
    expect(exitCode).toBe(0);
    expect(out).toContain('control.shared_execution_credits');
    expect(out).not.toContain('management_lock');
  });

  it('of another function', async () => {
    const { out } = await runHca([
      'registers',
      'identity.board_name',
      '--uf',
      '3',
      '--device',
      `emu:?${small}`,
    ]);
    expect(out).toBe((await runHca(['registers', 'identity.board_name', '--device', `emu:3?${small}`])).out);
    const control = await runHca(['registers', 'control', '--uf', '3', '--device', `emu:?${small}`]);
    expect(control.error).toMatch(/^hca: the control registers belong to underlying function 0; expected: /);
    const address = await runHca(['registers', '--uf', '3', '--device', 'pci:0000:01:00.0']);
    expect(address.error).toMatch(
      /^hca: pci:0000:01:00.0 is the address of one function: --uf cannot select another/,
    );
  });

  it('as JSON', async () => {
    const [shown] = (
      await runHca(['registers', 'clock', 'control.control', '--json', '--device', `emu:?${small}`])
    ).json();
    expect(shown).toMatchObject([
      { block: 'underlying_function', register: 'clock', offset: 16, unit: 'clock ticks' },
      { block: 'control', register: 'control', values: [1], fields: [{ enable: 1, reset: 0 }] },
    ]);
  });
});

describe('hca kicks', () => {
  it('posts commands, and shows their kicks', async () => {
    const { out } = await runHca(['kicks', '--count', '7', '--device', `emu:?${small}`]);
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^emu: sends of 0, 32, 64, 96, 128, 256 B that this command posts$/);
    expect(lines.slice(3).map((line) => line.split(/ +/).slice(3, 7))).toEqual(
      [0, 32, 64, 96, 128, 256, 0].map((bytes, index) => [`${index}`, 'send', `${bytes}`, 'pcb']),
    );
  });

  it('as JSON, a line each', async () => {
    const kicks = (await runHca(['kicks', '--count', '2', '--json', '--device', `emu:?${small}`])).json();
    expect(kicks).toMatchObject([
      { kickNumber: 0, length: 0, sent: { status: 0 } },
      { kickNumber: 1, length: 32, sent: { status: 0 } },
    ]);
  });

  it('watches a board of this process until interrupted, without an error', async () => {
    const device = `emu:?name=kicks-watched&${small}`;
    const board = openDevice(device);
    const interrupted = new AbortController();
    const running = runHca(['kicks', '--device', device], interrupted.signal);
    setImmediate(() => interrupted.abort());
    const { exitCode, out } = await running;
    board[Symbol.dispose]();
    expect([exitCode, out.split('\n')[0]]).toEqual([0, `${device}: kicks of all functions; Ctrl+C ends it`]);
  });
});

describe('hca kicks, interrupted', () => {
  it('before all requested kicks arrived, it fails', async () => {
    const interrupted = new AbortController();
    interrupted.abort();
    const run = await runHca(
      ['kicks', '--count', '3', '--device', `emu:?${small}&progress=own`],
      interrupted.signal,
    );
    expect([run.exitCode, run.error]).toEqual([1, 'hca: interrupted\n']);
  });
});

describe('hca as a program', () => {
  const program = ['dist/lib/cli/main.js'];
  it('writes to its streams, and ends with its exit code', async () => {
    const run = promisify(execFile);
    expect((await run(process.execPath, [...program, 'list'])).stdout).toContain('emu:');
    await expect(run(process.execPath, [...program, 'frobnicate'])).rejects.toMatchObject({
      code: 2,
      stderr: "hca: unknown command 'frobnicate'; see hca --help\n",
    });
  });

  it('ends at an interrupt, also in the middle of a measurement', async () => {
    const child = spawn(process.execPath, [...program, 'doorbell', '--iterations', '1000000000']);
    let error = '';
    child.stderr.on('data', (part: Buffer) => {
      error += part.toString();
    });
    // the heading is printed before the measurement begins
    child.stdout.once('data', () => child.kill('SIGINT'));
    const [exitCode] = (await once(child, 'close')) as [number | null];
    expect(exitCode).toBe(1);
    expect(error).toMatch(/^hca: interrupted$/m);
  });

  it('ends silently when its reader closes the pipe', async () => {
    const run = promisify(execFile);
    const { stdout, stderr } = await run('bash', [
      '-c',
      `set -o pipefail; ${process.execPath} ${program.join(' ')} registers | head -n 1`,
    ]);
    expect(stdout.split('\n').length).toBe(2);
    expect(stderr).toBe('');
  });
});
