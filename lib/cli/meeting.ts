import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Where two ends in two processes meet. */
export interface MeetingPlace {
  /** Of the end that waits; none: this end waits. */
  readonly host?: string;
  /** TCP port. */
  readonly port: number;
  readonly signal: AbortSignal;
}

/** The TCP port of libibverbs' examples. */
export const usualPort = 18_515;

/** Meets the other end: the one that names a host looks for the one that waits. @throws Error it cannot be met */
export async function meet(place: MeetingPlace): Promise<Socket> {
  return place.host === undefined ? waitForPeer(place) : findPeer(place, place.host);
}

/** Until the other end has what it needs of this one too; libibverbs' examples leave at once. */
export async function partFrom(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closed = once(socket, 'close');
  socket.on('error', () => {}); // it has gone without a word: as well
  socket.resume().end();
  await closed;
}

async function waitForPeer({ port, signal }: MeetingPlace): Promise<Socket> {
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

async function findPeer({ port, signal }: MeetingPlace, host: string): Promise<Socket> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    if (!isCode(error, 'ECONNREFUSED')) throw error;
    throw new Error(`nobody waits at TCP port ${port} of ${host}; start the other end first, with --listen`, {
      cause: error,
    });
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
