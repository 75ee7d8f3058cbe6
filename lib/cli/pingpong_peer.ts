import type { QueuePairAddress } from '../connect/index.ts';
import type { Context } from '../index.ts';
import { untilActive } from './active_port.ts';
import { Conversation } from './conversation.ts';
import { exchangeAddresses, greet, type Settings } from './greeting.ts';
import { isOfOurOwn, isOpen } from './link_agreement.ts';
import type { MeetingPlace } from './meeting.ts';
import type { Scope } from './scope.ts';

// Format of the libibverbs examples: LID:QPN:PSN:GID in hexadecimal digits and a 0, and "done" and a 0 when both are connected.
const addressBytes = '0000:000000:000000:'.length + 32 + 1;
const done = 'done\0';

/** This end of a ping-pong, with its device open. */
export interface LocalEnd {
  readonly context: Context;
  readonly addresses: readonly QueuePairAddress[];
  connect(remotes: readonly QueuePairAddress[]): void;
}

/** Parameters for the connection to the other end. */
export interface PeerOptions {
  readonly place: MeetingPlace;
  readonly deviceString: string;
  /** Settings that both ends share. */
  readonly settings: Settings;
  /** Port of the device. */
  readonly port: number;
  /** Number of addresses that libibverbs' program sends; those beyond the ends' own are empty. */
  readonly told: number;
}

/** The other end, connected. */
export interface Met<End> {
  readonly end: End;
  readonly remotes: readonly QueuePairAddress[];
  /** Runs a ping-pong, which also ends when the other end fails or disconnects. */
  readonly play: <Result>(body: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;
}

/** The address of no queue pair. */
const none: QueuePairAddress = { queuePairNumber: 0, packetSequenceNumber: 0, gid: '0'.repeat(32) };

/**
 * Connects to the other end and exchanges addresses: with `hca`, after an agreement on a link, or with a program of libibverbs, in its
 * format.
 * @param open opens a device for as long as the scope lasts
 * @throws Error the connection fails, the other end runs another command, or no link joins the devices
 */
export async function meetPeer<End extends LocalEnd>(
  options: PeerOptions,
  scope: Scope,
  open: (deviceString: string) => End,
): Promise<Met<End>> {
  const { place, deviceString, told } = options;
  const waits = place.host === undefined;
  // An end whose device has its link first checks that it can open the device.
  const opened = isOpen(deviceString) ? undefined : open(deviceString);
  const conversation = await Conversation.meet(place, scope);
  const isOurs = !waits && isOfOurOwn(deviceString);
  if (!waits && !isOurs) conversation.write(linesOf(opened!.addresses, told, true));
  const remotes = isOurs || (await conversation.isOurs()) ? undefined : await readLines(conversation, told);
  if (remotes === undefined || (waits && remotes.isMarked)) {
    return meetOurs(options, scope, conversation, opened, open);
  }
  if (opened === undefined) throw unreachable(deviceString);
  return meetForeign(options, scope, conversation, opened, remotes.addresses);
}

async function meetOurs<End extends LocalEnd>(
  { place, deviceString, settings, port }: PeerOptions,
  { signal }: Scope,
  conversation: Conversation,
  opened: End | undefined,
  open: (deviceString: string) => End,
): Promise<Met<End>> {
  const waits = place.host === undefined;
  const greeted = greet(conversation, { settings, deviceString, port, waits });
  const [agreement] = await Promise.all([greeted, waits || refuseForeign(conversation, deviceString)]);
  const end = opened ?? open(agreement.deviceString);
  const remotes = await exchangeAddresses(
    conversation,
    agreement,
    end.addresses,
    (addresses) => addresses,
    (addresses) => end.connect(addresses),
  );
  await untilActive(end.context, port, place.timeout, signal);
  return {
    end,
    remotes,
    play: async (body) => {
      const lost = new AbortController();
      const over = conversation.hearAtLast('done');
      over.catch((error: unknown) => lost.abort(error));
      const result = await body(AbortSignal.any([signal, lost.signal]));
      conversation.say('done');
      await conversation.inTime(over);
      return result;
    },
  };
}

async function refuseForeign(conversation: Conversation, deviceString: string): Promise<void> {
  if (!(await conversation.isOurs())) throw unreachable(deviceString);
}

/** The program of libibverbs disconnects as soon as its queue pair is connected, which is no failure. */
async function meetForeign<End extends LocalEnd>(
  { place, port, told }: PeerOptions,
  { signal }: Scope,
  conversation: Conversation,
  end: End,
  remotes: readonly QueuePairAddress[],
): Promise<Met<End>> {
  conversation.isForeign = true;
  end.connect(remotes);
  if (place.host === undefined) {
    conversation.write(linesOf(end.addresses, told, false));
    await conversation.read(done.length);
  } else {
    conversation.write(done);
  }
  await untilActive(end.context, port, place.timeout, signal);
  return { end, remotes, play: (body) => body(signal) };
}

function unreachable(deviceString: string): Error {
  return new Error(
    `the other end is a program of libibverbs, which ${deviceString} does not reach; give this end a device of its network, as ` +
      "--device 'emu:?link=udp:ADDRESS' or 'emu:?link=ethernet:PATH,PATH'",
  );
}

/**
 * A packet sequence number for an address that either program may read. `hca` marks its addresses by capital digits there, which
 * libibverbs' programs accept, so the number must have a digit above 9.
 */
export function markable(address: QueuePairAddress): QueuePairAddress {
  const { packetSequenceNumber: number } = address;
  return { ...address, packetSequenceNumber: number - (number % 16) + 10 + (number % 6) };
}

function linesOf(addresses: readonly QueuePairAddress[], told: number, isMarked: boolean): string {
  return Array.from({ length: told }, (_, index) => lineOf(addresses[index] ?? none, isMarked)).join('');
}

function lineOf(
  { localIdentifier = 0, queuePairNumber, packetSequenceNumber, gid }: QueuePairAddress,
  isMarked: boolean,
): string {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
  const psn = hex(packetSequenceNumber, 6);
  return `${hex(localIdentifier, 4)}:${hex(queuePairNumber, 6)}:${isMarked ? psn.toUpperCase() : psn}:${gid}\0`;
}

async function readLines(
  conversation: Conversation,
  count: number,
): Promise<{ readonly addresses: readonly QueuePairAddress[]; readonly isMarked: boolean }> {
  const lines: string[] = [];
  while (lines.length < count) lines.push(await conversation.read(addressBytes));
  const addresses = lines.map(addressOfLine);
  return { addresses, isMarked: /^[^:]*:[^:]*:\d*[A-F]/.test(lines[0]!) };
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
