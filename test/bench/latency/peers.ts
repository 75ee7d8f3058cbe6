import { fork, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { freePort } from '../../helpers/free_port.ts';
import { bytes, halfOf, roundTrips, type Contender } from './setting.ts';
import { extensionOf } from './verbs.ts';

const echo = new URL(`echo${extensionOf(import.meta.url)}`, import.meta.url);
const socketPath = (): string => path.join(tmpdir(), `fpga-verbs-bench-${randomUUID()}`);

/**
 * Times messages, one at a time.
 * @param send sends one
 * @param listen gets the function to call when an answer is complete
 */
async function timed(send: () => void, listen: (answered: () => void) => void): Promise<number> {
  const samples = new Float64Array(roundTrips);
  await new Promise<void>((resolve) => {
    let trips = -roundTrips; // as many warm-up round trips
    let begin = performance.now();
    listen(() => {
      const now = performance.now();
      if (trips >= 0) samples[trips] = (now - begin) * 1e6;
      trips += 1;
      if (trips === roundTrips) return resolve();
      begin = now;
      send();
    });
    send();
  });
  return halfOf(samples);
}

function timedOver(socket: Socket): Promise<number> {
  const message = new Uint8Array(bytes);
  return timed(
    () => socket.write(message),
    (answered) => {
      let came = 0;
      socket.removeAllListeners('data').on('data', ({ length }) => {
        came += length;
        if (came < bytes) return;
        came = 0;
        answered();
      });
    },
  );
}

/** Answers each byte of each connection. */
export function echoServer(at: string): Server {
  return createServer((socket) => socket.pipe(socket)).listen(at);
}

async function connected(at: string): Promise<Socket> {
  const socket = connect(at);
  await once(socket, 'connect');
  return socket;
}

/** A Unix-domain socket whose ends are in one thread. */
export const socketInAThread: Contender = {
  name: 'Unix-domain socket in one thread',
  round: async () => {
    const at = socketPath();
    const server = echoServer(at);
    await once(server, 'listening');
    const socket = await connected(at);
    const result = await timedOver(socket);
    socket.destroy();
    server.close();
    return result;
  },
};

/** postMessage to a worker and back. */
export const postMessage: Contender = {
  name: 'postMessage to a worker',
  round: async () => {
    const worker = new Worker(echo);
    await once(worker, 'message'); // it listens
    const message = new Uint8Array(bytes);
    const result = await timed(
      () => worker.postMessage(message),
      (answered) => worker.removeAllListeners('message').on('message', answered),
    );
    await worker.terminate();
    return result;
  },
};

/** A Unix-domain socket between two processes. */
export const socketBetweenProcesses: Contender = {
  name: 'Unix-domain socket between processes',
  round: async () => {
    const at = socketPath();
    const child = fork(fileURLToPath(echo), [at]);
    await once(child, 'message'); // it listens
    const socket = await connected(at);
    const result = await timedOver(socket);
    socket.destroy();
    child.disconnect();
    await once(child, 'exit');
    return result;
  },
};

/**
 * A third-party benchmark program that plays against itself on this machine; undefined: it is not installed.
 */
export function program(
  command: string,
  words: (port: string) => { readonly server: readonly string[]; readonly client: readonly string[] },
  microseconds: (said: string) => number,
  name = command,
): Contender | undefined {
  if (spawnSync(command, ['-h'], { stdio: 'ignore' }).error !== undefined) return undefined;
  return {
    name,
    round: async () => {
      const { server, client } = words(`${await freePort()}`);
      const listening = spawn(command, server, { stdio: 'ignore' });
      const ended = once(listening, 'exit');
      try {
        for (let tries = 0; tries < 20; tries++) {
          const { status, stdout } = spawnSync(command, client, { encoding: 'utf8', timeout: 60_000 });
          const figure = status === 0 ? microseconds(stdout) : Number.NaN;
          if (!Number.isNaN(figure)) return figure;
        }
        return Number.NaN;
      } finally {
        listening.kill();
        await ended;
      }
    },
  };
}

/** The numbers of the last line. */
const lastNumbers = (said: string): number[] =>
  said.trim().split('\n').at(-1)!.trim().split(/\s+/).map(Number);

/** libfabric's ping-pong over one of its providers: a transfer is one way. */
const libfabricBy = (provider: string, endpoint: string, name?: string): Contender | undefined =>
  program(
    'fi_pingpong',
    (port) => {
      const words = ['-p', provider, '-e', endpoint, '-S', `${bytes}`, '-I', `${roundTrips}`];
      return { server: [...words, '-B', port], client: [...words, '-P', port, '127.0.0.1'] };
    },
    (said) => lastNumbers(said).at(-2) ?? Number.NaN,
    name,
  );
export const libfabricOverTcp = libfabricBy('tcp', 'msg', 'fi_pingpong -p tcp');
export const libfabricOverSharedMemory = libfabricBy('shm', 'rdm', 'fi_pingpong -p shm');

/** UCX over the transport that it selects between two processes: latency is one way. */
export const ucx = program(
  'ucx_perftest',
  (port) => ({
    server: ['-p', port],
    client: ['127.0.0.1', '-p', port, '-t', 'tag_lat', '-s', `${bytes}`, '-n', `${roundTrips}`, '-f'],
  }),
  (said) => lastNumbers(said)[1] ?? Number.NaN,
);
