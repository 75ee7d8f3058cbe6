import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

import { unlessGivenUp } from '../connect/give_up.ts';

/** Where two ends in two processes meet. */
export interface MeetingPlace {
  /** Host of the end that waits; undefined: this end waits. */
  readonly host?: string;
  /** TCP port. */
  readonly port: number;
  /** Seconds for an answer of the other end. The wait for its connection has no limit. */
  readonly timeout: number;
}

/** The TCP port of libibverbs' examples. */
export const usualPort = 18_515;

/**
 * Connects to the other end: the end that names a host connects to the end that waits.
 * @throws Error the connection fails; the signal's reason
 */
export async function meet(place: MeetingPlace, signal: AbortSignal): Promise<Socket> {
  return place.host === undefined ? waitForPeer(place, signal) : findPeer(place, place.host, signal);
}

async function waitForPeer({ port }: MeetingPlace, signal: AbortSignal): Promise<Socket> {
  const server: Server = createServer();
  try {
    server.listen(port);
    await once(server, 'listening', { signal });
    const [socket] = (await once(server, 'connection', { signal })) as [Socket];
    return socket;
  } catch (error) {
    if (!isCode(error, 'EADDRINUSE')) throw error;
    throw new Error(`TCP port ${port} is in use; choose another one with --port at both ends`, {
      cause: error,
    });
  } finally {
    server.close();
  }
}

async function findPeer({ port, timeout }: MeetingPlace, host: string, signal: AbortSignal): Promise<Socket> {
  const socket = connect(port, host);
  try {
    await unlessGivenUp(once(socket, 'connect'), { signal, timeout: timeout * 1000 });
    return socket;
  } catch (error) {
    socket.on('error', () => {}); // errors of an abandoned attempt
    socket.destroy();
    throw signal.aborted ? error : unmet(error, `TCP port ${port} of ${host}`, timeout);
  }
}

function unmet(error: unknown, where: string, timeout: number): unknown {
  if (isCode(error, 'ECONNREFUSED')) {
    return new Error(`no end waits at ${where}; start the other end first, with --listen`, { cause: error });
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new Error(
      `${where} does not answer for ${timeout} s; check whether a firewall drops packets to it`,
      { cause: error },
    );
  }
  return error;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
