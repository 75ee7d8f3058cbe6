import { fork, type Serializable } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once, type EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { drive, type Side } from '../../../lib/cli/performance/drive.ts';
import { End, type EndAddress } from '../../../lib/cli/performance/end.ts';
import { answeringSide, measuringSide } from '../../../lib/cli/performance/latency_sides.ts';
import { Stopwatch } from '../../../lib/cli/performance/stopwatch.ts';
import { openDevice } from '../../../lib/index.ts';
import { bytes, endOptions, halfOf, roundTrips, run, type Contender } from './setting.ts';

const answering = new URL(`answering${extensionOf(import.meta.url)}`, import.meta.url).href;
const patient = new AbortController().signal;
const deviceOfAFabric = (): string => `emu:?fabric=bench-${randomUUID()}`;

/** Messages from one end to its peer and back; this thread drives the `others` too. */
async function timed(end: End, others: readonly Side[]): Promise<number> {
  const play = async (): Promise<Stopwatch> => {
    const stopwatch = new Stopwatch({ iterations: roundTrips });
    const sides = [...others, measuringSide(end, run, stopwatch)];
    await drive(sides, {
      messages: () => stopwatch.laps,
      bytesBetween: 2 * bytes,
      signal: patient,
      progress: () => {},
    });
    return stopwatch;
  };
  await play(); // warms up
  return halfOf((await play()).samples);
}

/** Two boards that one thread polls alternately. */
export const oneThread: Contender = {
  name: 'one thread, both boards',
  round: async () => {
    const device = deviceOfAFabric();
    const contexts = [openDevice(device), openDevice(device)];
    const [client, server] = contexts.map((context) => new End(context, endOptions)) as [End, End];
    client.connect(server.address);
    server.connect(client.address);
    try {
      return await timed(client, [answeringSide(server, run)]);
    } finally {
      for (const context of contexts) context[Symbol.dispose]();
    }
  },
};

/** A board in this thread, and one in a worker that polls it continuously. */
export const twoThreads: Contender = {
  name: 'two threads, a board each',
  round: () => {
    const device = deviceOfAFabric();
    const worker = new Worker(new URL(answering), { workerData: device });
    return facing(device, worker, (message) => worker.postMessage(message));
  },
};

/**
 * A board in this process, and one in another process that polls it continuously, on a link of shared memory.
 */
export const twoProcesses: Contender = {
  name: 'two processes, a board each',
  round: () => {
    const device = `emu:?link=shm:bench-${randomUUID()}`;
    const child = fork(fileURLToPath(answering), [device]);
    return facing(device, child, (message) => void child.send(message as Serializable));
  },
};

/** Exchanges messages with an end in another thread or process. */
async function facing(
  device: string,
  elsewhere: EventEmitter,
  tell: (message: unknown) => void,
): Promise<number> {
  const [address] = (await once(elsewhere, 'message')) as [EndAddress];
  const context = openDevice(device);
  try {
    const client = new End(context, endOptions);
    client.connect(address);
    tell(client.address);
    await once(elsewhere, 'message'); // it is connected
    return await timed(client, []);
  } finally {
    tell('close');
    await once(elsewhere, 'exit');
    context[Symbol.dispose]();
  }
}

/** Of this module and its neighbors, compiled or not. */
export function extensionOf(url: string): string {
  return url.slice(url.lastIndexOf('.'));
}
