import { randomUUID } from 'node:crypto';

import { HcaProcess, untilListening, type HcaEnd } from './hca_process.ts';
import { freePort } from './free_port.ts';

/** A device string of boards that meet those of one test alone. */
export function ownFabric(options = 'linkLayer=infiniband'): string {
  return `emu:?${options}&link=host:${randomUUID()}`;
}

/** Runs a program by `hca run`. */
export function startProgram(device: string, words: readonly string[]): HcaProcess {
  return new HcaProcess(['run', '--explain', '--device', device, '--', ...words]);
}

/** Two ends of a program that meet at a TCP port; the first one waits. */
export interface Ends {
  readonly server: HcaProcess;
  readonly client: HcaProcess;
}

/** Device strings of server and client; one: of both. */
type Devices = string | readonly [string, string];

/** The options by which a program takes its port, as server and as client. */
interface PortOptions {
  readonly server: string;
  readonly client: string;
}
const usualPortOptions: PortOptions = { server: '-p', client: '-p' };

/** Starts a program as server, and when that listens as client. */
export async function startEnds(
  devices: Devices,
  words: readonly string[],
  portOptions = usualPortOptions,
): Promise<Ends> {
  const [waiting, looking] = typeof devices === 'string' ? [devices, devices] : devices;
  const port = await freePort();
  const server = startProgram(waiting, [...words, portOptions.server, String(port)]);
  await Promise.race([untilListening(port), server.ended]);
  return {
    server,
    client: startProgram(looking, [...words, portOptions.client, String(port), 'localhost']),
  };
}

/** As {@link startEnds}, and waits for both. @returns the server's end, and the client's */
export async function runEnds(
  devices: Devices,
  words: readonly string[],
  portOptions = usualPortOptions,
): Promise<readonly [HcaEnd, HcaEnd]> {
  const { server, client } = await startEnds(devices, words, portOptions);
  return Promise.all([server.ended, client.ended]);
}
