// Commands that observe a served board while a ping-pong runs on it. The board, the ping-pong and the
// observer are separate processes.
import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';

import { openDevice } from '../../lib/index.ts';
import { closing } from '../helpers/backends.ts';
import { runHca } from '../helpers/run_hca.ts';

const program = fileURLToPath(new URL('../../dist/lib/cli/main.js', import.meta.url));
const small = 'emu:?queuePairs=64&pageTableEntries=4096&memoryKeys=256';
/** Milliseconds: each process needs a processor. */
const timeLimit = 400_000;

type Process = ChildProcessByStdio<null, Readable, Readable>;

/** Runs `hca` in a separate process until the test ends. */
function start(...words: readonly string[]): Process {
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  closing({ close: () => child.kill('SIGKILL') });
  return child;
}

/**
 * The first output line of a process that matches a pattern.
 * @throws Error it has ended without such a line
 */
async function lineOf(child: Process, pattern: RegExp, stream: Readable = child.stdout): Promise<string> {
  const read: string[] = [];
  for await (const line of createInterface({ input: stream })) {
    read.push(line);
    if (pattern.test(line)) return line;
  }
  throw new Error(`no line is as ${pattern}: ${read.join('\n')}`);
}

/** The complete output of a process that a signal ends, and its exit code. */
async function endOf(
  child: Process,
  signal: NodeJS.Signals,
): Promise<{ code: unknown; out: string; error: string }> {
  let [out, error] = ['', ''];
  child.stdout.on('data', (part: Buffer) => (out += part.toString()));
  child.stderr.on('data', (part: Buffer) => (error += part.toString()));
  child.kill(signal);
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, out, error };
}

/** Runs `body` with a served board named lab, in a separate folder of names. */
async function whileServed(body: () => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-watching-'));
  vi.stubEnv('XDG_RUNTIME_DIR', folder);
  const server = start('serve', 'lab', '--device', small);
  try {
    await lineOf(server, /can be opened/);
    await body();
  } finally {
    server.kill('SIGKILL');
    await once(server, 'close');
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  }
}

/** A ping-pong between two functions of the board that runs until the test ends. */
async function startPingpong(...words: readonly string[]): Promise<Process> {
  const pingpong = start(
    'pingpong',
    'rc',
    '--device',
    'serve:lab',
    '--iters',
    '100000000',
    '--size',
    '64',
    ...words,
  );
  await lineOf(pingpong, /remote address/);
  return pingpong;
}

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

describe('beside a ping-pong of another process', { timeout: timeLimit }, () => {
  it('hca kicks shows its kicks, of all functions or of one, and posts nothing', async () => {
    await whileServed(async () => {
      await startPingpong();
      const all = start('kicks', '--device', 'serve:lab', '--json');
      const kicks: { underlyingFunction: number; sent?: { status: number } }[] = [];
      for await (const line of createInterface({ input: all.stdout })) {
        const shown = JSON.parse(line) as (typeof kicks)[0] | { lost: number };
        if ('lost' in shown) continue; // it was slower than the ping-pong
        kicks.push(shown);
        if (kicks.length === 200) break;
      }
      expect(new Set(kicks.map(({ underlyingFunction }) => underlyingFunction))).toEqual(new Set([1, 2]));
      expect(kicks.some(({ sent }) => sent?.status === 0)).toBe(true);
      const own = start('kicks', '--device', 'serve:lab/2');
      await lineOf(own, /^\d+ +2 +0x\w+ +\d+ +send +16 +pcb /);
      const text = await endOf(own, 'SIGTERM');
      expect([text.code, text.error]).toEqual([0, '']);
      expect(widest(text.out)).toBeLessThanOrEqual(80);
      expect(text.out).not.toMatch(/^\d+ +1 /m);
      const open = (await runHca(['list'])).out;
      expect(open).toMatch(/serve:lab .*, 1, 2 open/);
    });
  });

  it('hca top shows its rates, in 80 columns with headings', async () => {
    await whileServed(async () => {
      await startPingpong();
      const { exitCode, json } = await runHca([
        'top',
        '--count',
        '2',
        '--interval',
        '200',
        '--json',
        '--device',
        'serve:lab',
      ]);
      expect(exitCode).toBe(0);
      const looks = json() as {
        functions: { underlyingFunction?: number; perSecond?: { kicks?: number } }[];
        ports: { packetsOut?: number; bytesIn?: number }[];
      }[];
      expect(looks[0]!.functions[1]!.perSecond!.kicks).toBeUndefined();
      const rates = looks[1]!.functions.map(({ perSecond }) => perSecond?.kicks);
      expect(rates[1]).toBeGreaterThan(0);
      expect(rates[2]).toBeGreaterThan(0);
      expect(rates[3]).toBe(0);
      expect(looks[1]!.ports[0]!.packetsOut).toBeGreaterThan(0);
      expect(looks[1]!.ports[0]!.bytesIn).toBeGreaterThan(0);
      const { out } = await runHca(['top', '--count', '2', '--interval', '200', '--device', 'serve:lab']);
      expect(widest(out)).toBeLessThanOrEqual(80);
      const headings = out.split('\n')[0]!.trim().split(/\s+/);
      expect(new Set(headings).size).toBe(headings.length);
      expect(out).toMatch(/^port 1: out [\d.,kM]+ packets\/s, [\d.]+ [kM]?B\/s; in /m);
      const watching = start('top', '--device', 'serve:lab', '--interval', '100');
      await lineOf(watching, /^2 +[\d.,kM]+ /);
      expect((await endOf(watching, 'SIGINT')).code).toBe(0);
    });
  });

  it('hca qps, regions and counters list its objects', async () => {
    await whileServed(async () => {
      await startPingpong();
      const all = (await runHca(['qps', '--json', '--device', 'serve:lab'])).json()[0] as {
        number: number;
        underlyingFunction: number;
        peer: { queuePair: number };
      }[];
      expect(all).toHaveLength(2);
      expect(all[0]).toMatchObject({ type: 'RC', state: 'readyToSend', underlyingFunction: 1 });
      expect(all.map(({ peer }) => peer.queuePair)).toEqual(all.map(({ number }) => number).toReversed());
      const { out } = await runHca(['qps', '--device', 'serve:lab/2']);
      expect(out).toMatch(/^QP .*PEER\n0x\w+ +2 +RC +RTS .* 0x\w+ fe80::/);
      expect(widest(out)).toBeLessThanOrEqual(80);
      expect(out.trim().split('\n')).toHaveLength(2);
      // hca why accepts the numbers that hca qps shows.
      expect((await runHca(['why', `${all[1]!.number}`, '--device', 'serve:lab'])).exitCode).toBe(0);
      expect((await runHca(['regions', '--json', '--device', 'serve:lab'])).json()[0]).toMatchObject([
        { underlyingFunction: 1, access: ['localWrite'] },
        { underlyingFunction: 2, access: ['localWrite'] },
      ]);
      const counters = async (...words: readonly string[]) =>
        (await runHca(['counters', ...words, '--device', 'serve:lab', '--json'])).json()[0] as {
          underlyingFunction?: number;
          name: string;
          perSecond?: number;
        }[];
      const rates = await counters('kicks', 'port_bytes_out.1', '--rates', '--interval', '100');
      expect(rates.map(({ underlyingFunction, name }) => [underlyingFunction, name])).toEqual([
        [0, 'kicks'],
        [undefined, 'port_bytes_out.1'],
        ...[1, 2, 3, 4, 5, 6, 7].map((number) => [number, 'kicks']),
      ]);
      expect(rates[2]!.perSecond).toBeGreaterThan(0);
      expect(rates[4]!.perSecond).toBe(0);
      expect(await counters()).not.toContainEqual(expect.objectContaining({ name: 'checksum_mismatches' }));
    });
  });

  it('hca capture writes its packets, which a dissector reads, until it is interrupted', async () => {
    await whileServed(async () => {
      await startPingpong();
      const file = path.join(process.env['XDG_RUNTIME_DIR']!, 'packets.pcapng');
      const capture = start('capture', file, '--device', 'serve:lab', '--json');
      await vi.waitUntil(() => sizeOf(file) > 10_000, { timeout: 60_000 });
      const { code, out, error } = await endOf(capture, 'SIGTERM');
      expect([code, error]).toEqual([0, '']);
      const { bytes, lost } = JSON.parse(out) as { bytes: number; lost: number };
      expect([bytes, lost]).toEqual([sizeOf(file), 0]);
      const view = new DataView(new Uint8Array(readFileSync(file)).buffer);
      let at = 0;
      let packets = 0;
      for (; at < bytes; at += view.getUint32(at + 4, true))
        packets += Number(view.getUint32(at, true) === 6);
      expect(at).toBe(bytes); // whole blocks
      expect(packets).toBeGreaterThan(10);
      const piped = start('capture', '-', '--device', 'serve:lab');
      const [head] = (await once(piped.stdout, 'data')) as [Buffer];
      expect(head.readUInt32LE(0)).toBe(0x0a0d0d0a);
      expect((await endOf(piped, 'SIGTERM')).code).toBe(0);
      // The command also ends when the reader of its named pipe ends.
      const pipe = path.join(process.env['XDG_RUNTIME_DIR']!, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const named = start('capture', pipe, '--device', 'serve:lab');
      execFileSync('head', ['-c', '1000', pipe], { timeout: 60_000 });
      let said = '';
      named.stderr.on('data', (part: Buffer) => (said += part.toString()));
      expect([...((await once(named, 'close')) as [unknown]), said]).toEqual([0, null, '']);
    });
  });

  it('hca events shows a refused command of a client only to its observers', async () => {
    await whileServed(async () => {
      const events = start('events', '--device', 'serve:lab');
      const other = start('events', '--device', 'serve:lab/2');
      await Promise.all([lineOf(events, /Ctrl\+C/), lineOf(other, /events of function 2; Ctrl\+C/)]);
      const context = closing(openDevice('serve:lab/1'));
      const { virtualCollectBuffers, device } = context.driver;
      const { bar } = device.virtualCollectBufferRegion;
      device.board.write64(bar, virtualCollectBuffers.all[0]!.offset + 320, 0, 0);
      expect(await lineOf(events, /function/)).toMatch(
        /^\d+\.\d{6} s {2}function 1 {2}virtualCollectBufferError \(96\), virtual collect buffer \d+: writeBeyondCommand$/,
      );
      expect(await endOf(other, 'SIGTERM')).toEqual({ code: 0, out: '', error: '' });
    });
  });

  it('ends with exit code 1 and a sentence when the server is gone', async () => {
    let kicks: Process | undefined;
    await whileServed(async () => {
      kicks = start('kicks', '--device', 'serve:lab');
      await lineOf(kicks, /^KICK/);
    });
    let error = '';
    kicks!.stderr.on('data', (part: Buffer) => (error += part.toString()));
    expect(await once(kicks!, 'close')).toEqual([1, null]);
    expect(error).toMatch(/^hca: the device is gone: .*\n$/);
  });
});

describe('without a board to watch', () => {
  it.each([
    [
      ['kicks', '--device', 'emu:'],
      /emu: belongs to this command alone: it has no kicks of other processes.*--count N/,
    ],
    [['qps', '--device', 'emu:'], /it has no queue pairs of other processes; expected: --device serve:NAME/],
    [['events', '--device', 'serve:/nonexistent/x'], /no server serves a board there; start: hca serve/],
    [
      ['counters', 'cats', '--device', 'emu:'],
      /no counter is named cats; expected: a name from hca counters --all/,
    ],
    [
      ['capture', '/nonexistent/file', '--device', 'emu:?name=capture'],
      /capture file .* cannot be written: ENOENT/,
    ],
    [
      ['capture', 'x', '--device', 'emu:1?name=capture'],
      /packets belong to the board; expected: the control/,
    ],
  ])('%j fails in one line', async (words, error) => {
    const run = await runHca(words);
    expect([run.exitCode, run.out]).toEqual([1, '']);
    expect(run.error).toMatch(error);
    expect(run.error.trimEnd()).not.toContain('\n');
  });

  it('hca capture ends with one line when its disk is full', async () => {
    const { exitCode, error } = await runHca(['capture', '/dev/full', '--device', 'emu:?name=capture']);
    expect(exitCode).toBe(1);
    expect(error).toMatch(
      /^hca: the capture file \/dev\/full cannot be written: ENOSPC.*; expected: a file that can be created.*\n$/,
    );
  });
});

function sizeOf(file: string): number {
  try {
    return readFileSync(file).length;
  } catch {
    return 0; // it does not exist yet
  }
}
