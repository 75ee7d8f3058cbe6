import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';

import { freeNetwork, freePort } from '../helpers/free_port.ts';
import { HcaProcess, until, untilListening } from '../helpers/hca_process.ts';
import { runHca } from '../helpers/run_hca.ts';

const small = 'queuePairs=64&pageTableEntries=8192&memoryKeys=256';
const device = (link: string): string[] => ['--device', `emu:?${small}&link=${link}`];
const network = await freeNetwork();
const plain = ['--device', `emu:?${small}`];
const endless = ['--iters', '1000000000'];
const interrupted = { exitCode: 1, error: 'hca: interrupted\n' };

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A socket of the test, connected to a process that waits for its other end. */
async function guestOf(port: number): Promise<Socket> {
  await untilListening(port);
  const socket = connect(port, 'localhost');
  socket.on('error', () => {});
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** A port of the test that sends `said` to each connection, and nothing more. */
async function hostSaying(
  said: string,
): Promise<{ readonly port: number; readonly received: () => boolean }> {
  let received = false;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => (received = true));
    socket.write(said);
    closing.push(() => socket.destroy());
  }).listen(0);
  closing.push(() => server.close());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, received: () => received };
}

/** A port of a stopped process whose backlog is full, so the kernel answers no connection. */
async function fullPort(): Promise<number> {
  const text = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 },
    () => { console.log(server.address().port); process.kill(process.pid, 'SIGSTOP'); });`;
  const child = spawn(process.execPath, ['-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
  closing.push(() => child.kill('SIGKILL'));
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(said.toString());
  let refused = false;
  // The kernel retries a connection request beyond the backlog: if none arrives, the backlog is full.
  for (let tries = 0; !refused; tries++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    closing.push(() => socket.destroy());
    const came = await Promise.race([
      once(socket, 'connect').then(() => true),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 300)),
    ]);
    refused = !came;
    if (tries > 16) throw new Error('the backlog has no end');
  }
  return port;
}

const commands: readonly (readonly [string, ...string[]])[] = [
  ['pingpong', 'rc'],
  ['pingpong', 'srq', '-q', '2'],
  ['lat', 'send'],
  ['bw', 'write'],
];

describe.each(commands)('hca %s %s', (...command: readonly string[]) => {
  const shared = (): string[] => device(`shm:ending-${randomUUID()}`);

  it.each(['SIGINT', 'SIGTERM'] as const)('ends on %s while it waits for the other end', async (signal) => {
    const port = await freePort();
    const process = new HcaProcess([...command, '--listen', '-p', `${port}`]);
    await untilListening(port);
    process.kill(signal);
    expect(await process.ended).toMatchObject(interrupted);
  });

  it('ends on a signal while a connected end is silent', async () => {
    const port = await freePort();
    const process = new HcaProcess([...command, '--listen', '-p', `${port}`, ...shared()]);
    await guestOf(port);
    process.kill('SIGTERM');
    expect(await process.ended).toMatchObject(interrupted);
  });

  it('ends on a signal while a silent end is connected', async () => {
    const { port, received } = await hostSaying('');
    const process = new HcaProcess([...command, 'localhost', '-p', `${port}`]);
    await until(received, 'a word');
    process.kill('SIGTERM');
    expect(await process.ended).toMatchObject(interrupted);
  });

  it('ends on a signal while it connects', async () => {
    const port = await fullPort();
    const process = new HcaProcess([...command, '127.0.0.1', '-p', `${port}`]);
    await process.isUp();
    process.kill('SIGTERM');
    expect(await process.ended).toMatchObject(interrupted);
  });

  it('gives up an end that does not answer', async () => {
    const port = await fullPort();
    const process = new HcaProcess([...command, '127.0.0.1', '-p', `${port}`, '--timeout', '1']);
    expect(await process.ended).toMatchObject({
      exitCode: 1,
      error: `hca: TCP port ${port} of 127.0.0.1 does not answer for 1 s; check whether a firewall drops packets to it\n`,
    });
  });

  it.each([
    ['nothing', ''],
    ['half of an address', '0000:000012:0000'],
    ['half of a line', '{"say":"greet'],
  ])('gives up an end that says %s', async (_, said) => {
    const port = await freePort();
    const waiting = new HcaProcess([...command, '--listen', '-p', `${port}`, '--timeout', '1']);
    const host = await hostSaying(said);
    const looking = new HcaProcess([...command, 'localhost', '-p', `${host.port}`, '--timeout', '1']);
    (await guestOf(port)).write(said);
    const silence = /^hca: the other end sent nothing for 1 s; --timeout sets how long to wait\n$/;
    const isForeign = command[0] === 'pingpong' && said.startsWith('0');
    expect((await waiting.ended).error).toMatch(silence);
    expect((await looking.ended).error).toMatch(isForeign ? /a program of libibverbs/ : silence);
    for (const { ended } of [waiting, looking]) expect(await ended).toMatchObject({ exitCode: 1 });
  });

  it('ends on a signal while it runs, in one process', async () => {
    const process = new HcaProcess([...command, ...endless, ...plain]);
    await process.isUp();
    process.kill('SIGTERM');
    expect(await process.ended).toMatchObject(interrupted);
  });

  it('ends on a signal while it runs, and so does the other end, which says why', async () => {
    const port = ['-p', `${await freePort()}`];
    const waiting = new HcaProcess([...command, ...endless, ...plain, ...port, '--listen']);
    await untilListening(Number(port[1]));
    const looking = new HcaProcess([...command, ...endless, ...plain, ...port, 'localhost']);
    await Promise.all([waiting, looking].map((each) => each.hasSaid('remote address')));
    looking.kill('SIGTERM');
    expect(await looking.ended).toMatchObject(interrupted);
    expect(await waiting.ended).toMatchObject({
      exitCode: 1,
      error: 'hca: the other end failed: it was interrupted\n',
    });
  });

  it('ends when the other end is killed', async () => {
    const port = ['-p', `${await freePort()}`];
    const waiting = new HcaProcess([...command, ...endless, ...plain, ...port, '--listen']);
    await untilListening(Number(port[1]));
    const looking = new HcaProcess([...command, ...endless, ...plain, ...port, 'localhost']);
    await Promise.all([waiting, looking].map((each) => each.hasSaid('remote address')));
    waiting.kill('SIGKILL');
    const { exitCode, error } = await looking.ended;
    expect(error).toMatch(/^hca: (the other end disconnected too early|work request .* failed: .*)\n$/);
    expect(exitCode).toBe(1);
  });

  it.each([
    ['boards that find a link', (): [string[], string[]] => [plain, plain]],
    [
      'boards that have one',
      (): [string[], string[]] => [device(`udp:${network}1`), device(`udp:${network}2`)],
    ],
  ])('does not begin with different sizes, on %s', async (_, devices) => {
    const port = ['-p', `${await freePort()}`];
    const [one, other] = devices();
    const waiting = new HcaProcess([...command, '-s', '64', ...one, ...port, '--listen']);
    await untilListening(Number(port[1]));
    const looking = new HcaProcess([...command, '-s', '128', ...other, ...port, 'localhost']);
    const difference = (here: number, there: number): string =>
      command[0] === 'pingpong'
        ? `--size is ${here} here and ${there} at the other end; give both ends the same\n`
        : `--size is [${here}] here and [${there}] at the other end; give both ends the same\n`;
    expect(await waiting.ended).toMatchObject({ exitCode: 1, error: `hca: ${difference(64, 128)}` });
    expect(await looking.ended).toMatchObject({ exitCode: 1, error: `hca: ${difference(128, 64)}` });
  });

  it('refuses --listen together with a host', async () => {
    const { exitCode, error } = await new HcaProcess([...command, 'localhost', '--listen']).ended;
    expect([exitCode, error.split('\n').length]).toEqual([2, 2]);
    expect(error).toContain('give either --listen or the host localhost, not both');
  });
});

describe('a program of libibverbs', () => {
  const line = '0000:000011:000022:00000000000000000000ffff7f000001\0';

  it('is distinguished from hca at once on a board without a common link', async () => {
    const port = await freePort();
    const waiting = new HcaProcess(['pingpong', 'rc', '--listen', '-p', `${port}`]);
    (await guestOf(port)).write(line);
    const host = await hostSaying(line);
    const looking = new HcaProcess(['pingpong', 'rc', 'localhost', '-p', `${host.port}`]);
    for (const { ended } of [waiting, looking]) {
      expect(await ended).toMatchObject({
        exitCode: 1,
        error:
          "hca: the other end is a program of libibverbs, which emu: does not reach; give this end a device of its network, as --device 'emu:?link=udp:ADDRESS' or 'emu:?link=ethernet:PATH,PATH'\n",
      });
    }
  });
});

// In this process no other thread ends a command that ignores its signal.
describe('a command handles its signal itself', () => {
  const run = async (words: readonly string[]): Promise<void> => {
    const controller = new AbortController();
    const interrupting = setTimeout(() => controller.abort(), 50);
    closing.push(() => clearTimeout(interrupting));
    expect(await runHca(words, controller.signal)).toMatchObject(interrupted);
  };

  it.each([
    ['pingpong', 'rc', '--events'],
    ['pingpong', 'ud'],
    ['pingpong', 'srq'],
    ...commands,
    ['lat', 'write'],
    ['lat', 'read', '--events'],
  ])('while it runs: hca %s %s %s', async (...words) => run([...words, ...endless, ...plain]));

  it.each(commands)('while it waits or connects: hca %s %s', async (...command) => {
    const port = await freePort();
    await run([...command, '--listen', '-p', `${port}`]);
    await run([...command, '127.0.0.1', '-p', `${await fullPort()}`]);
    await run([...command, '127.0.0.1', '-p', `${(await hostSaying('')).port}`]);
  });
});

describe('commands that run until interrupted', () => {
  it.each([
    [['top', ...plain], 'UF', 0],
    [['kicks', '--device', `emu:?name=ending&${small}`], 'KICK', 0],
    [['events', '--device', `emu:?name=ending&${small}`], 'events of all functions', 0],
    [['serve', `/tmp/fpga-verbs-ending-${process.pid}`, ...plain], 'can be opened', 0],
    [['watch', ...plain], 'http://127.0.0.1:', 0],
    [['kicks', '--count', '1000000', ...plain], 'KICK', 1],
    [['doorbell', '--iterations', '100000000', ...plain], 'Doorbell latency', 1],
    [['demo'], 'measuring messages', 1],
  ] as const)('%j', async (words, said, exitCode) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const process = new HcaProcess(words);
      await process.hasSaid(said);
      process.kill(signal);
      const ended = await process.ended;
      expect([ended.exitCode, ended.error.replaceAll(/^hca: warning: .*\n/gm, '')]).toEqual([
        exitCode,
        exitCode === 0 ? '' : 'hca: interrupted\n',
      ]);
    }
  });
});

describe('a process that cannot handle a signal', () => {
  const addon = new URL('../../build/Release/fpga_verbs.node', import.meta.url).pathname;
  /** Its main thread never returns from a wait, like a thread in a system call. */
  const deaf = async (milliseconds: number) => {
    const text = `process.on('SIGTERM', () => {}); process.on('SIGINT', () => {});
      require(${JSON.stringify(addon)}).promisePromptEnd(${milliseconds}, 'these are the last words\\n', 7);
      process.stdout.write('up', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));`;
    const child = spawn(process.execPath, ['-e', text]);
    closing.push(() => child.kill('SIGKILL'));
    let error = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => (error += part));
    await once(child.stdout, 'data');
    return { child, ended: once(child, 'close').then(([exitCode]) => [exitCode as unknown, error]) };
  };

  it('ends within a time limit after the signal', async () => {
    const { child, ended } = await deaf(100);
    child.kill('SIGTERM');
    expect(await ended).toEqual([7, 'these are the last words\n']);
  });

  it('ends at once at a second one', async () => {
    const { child, ended } = await deaf(60_000);
    const repeating = setInterval(() => child.kill('SIGINT'), 50);
    expect(await ended.finally(() => clearInterval(repeating))).toEqual([7, 'these are the last words\n']);
  });
});
