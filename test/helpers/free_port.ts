import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';

// Reserves ports and addresses for one test, even if other tests run on the machine: each takes a lock that the kernel keeps
// until the process has ended.

/** A port of no protocol that tests use. */
const lockPort = 4790;
/** The kernel assigns higher ports to connections. */
const [firstPort, lastPort] = [10_000, 30_000];

/** Reserves a UDP port of an address for this process. @returns whether it was free */
async function lock(address: string, port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  socket.unref();
  socket.bind({ address, port, exclusive: true });
  try {
    await once(socket, 'listening');
    return true;
  } catch {
    return false;
  }
}

async function canBeListenedOn(port: number): Promise<boolean> {
  const server = createServer().listen(port);
  try {
    await once(server, 'listening');
    await promisify(server.close.bind(server))();
    return true;
  } catch {
    return false;
  }
}

/** A TCP port of this process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(firstPort, lastPort);
    if ((await lock('127.0.0.1', port)) && (await canBeListenedOn(port))) return port;
  }
}

/** Loopback addresses of this process: the prefix `127.x.y.`, to be followed by 1 to 250. */
export async function freeNetwork(): Promise<string> {
  for (;;) {
    const network = `127.${randomInt(1, 250)}.${randomInt(1, 250)}.`;
    if (await lock(`${network}254`, lockPort)) return network;
  }
}
