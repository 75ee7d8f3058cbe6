import { once } from 'node:events';
import type { Socket } from 'node:net';

import type { QueuePairAddress } from '../connect/index.ts';
import { meet, partFrom, type MeetingPlace } from './meeting.ts';

// libibverbs' examples: LID:QPN:PSN:GID in hexadecimal digits and a 0, and "done" and a 0 when both are connected.
const addressBytes = '0000:000000:000000:'.length + 32 + 1;
const done = 'done\0';

/**
 * Meets the other end and exchanges addresses with it as ibv_rc_pingpong does, which it may be.
 * @param attach connects the local queue pair to the address of the peer; the end that waits is connected first
 * @returns the address of the peer, and what ends the meeting: it waits until the other end is ready too
 * @throws Error the other end cannot be met, or says something else
 */
export async function meetPeer(
  place: MeetingPlace,
  local: QueuePairAddress,
  attach: (remote: QueuePairAddress) => void,
): Promise<{ readonly remote: QueuePairAddress; readonly part: () => Promise<void> }> {
  const { remotes, part } = await meetPeers(place, [local], ([remote]) => attach(remote!));
  return { remote: remotes[0]!, part };
}

/** As {@link meetPeer} with several queue pairs on each side, as many there as here: as ibv_srq_pingpong does. */
export async function meetPeers(
  place: MeetingPlace,
  locals: readonly QueuePairAddress[],
  attach: (remotes: readonly QueuePairAddress[]) => void,
): Promise<{ readonly remotes: readonly QueuePairAddress[]; readonly part: () => Promise<void> }> {
  const { signal } = place;
  const socket = await meet(place);
  try {
    const remotes =
      place.host === undefined
        ? await answer(socket, locals, attach, signal)
        : await ask(socket, locals, attach, signal);
    return { remotes, part: () => partFrom(socket) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

type Exchange = (
  socket: Socket,
  locals: readonly QueuePairAddress[],
  attach: (remotes: readonly QueuePairAddress[]) => void,
  signal: AbortSignal,
) => Promise<readonly QueuePairAddress[]>;

const answer: Exchange = async (socket, locals, attach, signal) => {
  const remotes = await readAddresses(socket, locals.length, signal);
  attach(remotes);
  socket.write(locals.map(lineOf).join(''));
  await read(socket, done.length, signal);
  return remotes;
};

const ask: Exchange = async (socket, locals, attach, signal) => {
  socket.write(locals.map(lineOf).join(''));
  const remotes = await readAddresses(socket, locals.length, signal);
  attach(remotes);
  socket.write(done);
  return remotes;
};

async function readAddresses(
  socket: Socket,
  count: number,
  signal: AbortSignal,
): Promise<QueuePairAddress[]> {
  const addresses: QueuePairAddress[] = [];
  while (addresses.length < count) addresses.push(addressOfLine(await read(socket, addressBytes, signal)));
  return addresses;
}

async function read(socket: Socket, bytes: number, signal: AbortSignal): Promise<string> {
  for (;;) {
    const taken = socket.read(bytes) as Buffer | null;
    if (taken?.length === bytes) return taken.toString('latin1');
    if (taken !== null || socket.readableEnded || socket.destroyed) {
      throw new Error('the other end has gone before both were connected');
    }
    await Promise.race([once(socket, 'readable', { signal }), once(socket, 'end', { signal })]);
  }
}

function lineOf({
  localIdentifier = 0,
  queuePairNumber,
  packetSequenceNumber,
  gid,
}: QueuePairAddress): string {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
  return `${hex(localIdentifier, 4)}:${hex(queuePairNumber, 6)}:${hex(packetSequenceNumber, 6)}:${gid}\0`;
}

function addressOfLine(line: string): QueuePairAddress {
  const parts = /^([\da-f]{4}):([\da-f]{6}):([\da-f]{6}):([\da-f]{32})\0$/i.exec(line);
  if (parts === null) {
    throw new Error(`the other end says ${JSON.stringify(line)}, but an address is LID:QPN:PSN:GID`);
  }
  const [localIdentifier, queuePairNumber, packetSequenceNumber] = parts
    .slice(1, 4)
    .map((digits) => Number.parseInt(digits, 16)) as [number, number, number];
  return { localIdentifier, queuePairNumber, packetSequenceNumber, gid: parts[4]!.toLowerCase() };
}
