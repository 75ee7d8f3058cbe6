import { randomUUID } from 'node:crypto';

import { HcaProcess, untilListening, type HcaEnd } from '../helpers/hca_process.ts';
import { freePort } from '../helpers/free_port.ts';

/** A device string of boards that meet those of one test alone. */
export function ownFabric(options = 'linkLayer=infiniband'): string {
  return `emu:?${options}&link=host:${randomUUID()}`;
}

/** Runs a program by `hca run`. */
export function startProgram(device: string, words: readonly string[]): HcaProcess {
  return new HcaProcess(['run', '--explain', '--device', device, '--', ...words]);
}

/** Two ends of a program that meet at a TCP port, which they take by -p; the first one waits. */
export interface Ends {
  readonly server: HcaProcess;
  readonly client: HcaProcess;
}

/** Device strings of server and client; one: of both. */
type Devices = string | readonly [string, string];

/** Starts a program as server, and when that listens as client. */
export async function startEnds(devices: Devices, words: readonly string[]): Promise<Ends> {
  const [waiting, looking] = typeof devices === 'string' ? [devices, devices] : devices;
  const port = await freePort();
  const all = [...words, '-p', String(port)];
  const server = startProgram(waiting, all);
  await Promise.race([untilListening(port), server.ended]);
  return { server, client: startProgram(looking, [...all, 'localhost']) };
}

/** As {@link startEnds}, and waits for both. @returns the server's end, and the client's */
export async function runEnds(
  devices: Devices,
  words: readonly string[],
): Promise<readonly [HcaEnd, HcaEnd]> {
  const { server, client } = await startEnds(devices, words);
  return Promise.all([server.ended, client.ended]);
}
