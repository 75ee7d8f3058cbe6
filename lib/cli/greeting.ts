import type { QueuePairAddress } from '../connect/index.ts';
import type { Conversation } from './conversation.ts';
import { agreeOnLink, checkReach, offerOf, readOffer, withLink, type Offer } from './link_agreement.ts';

/** Settings that both ends share, by the names of the options. */
export type Settings = Readonly<Record<string, unknown>>;

/** Version of the messages. Both ends must have the same. */
const version = 3;

interface Greeting {
  readonly version: number;
  readonly settings: Settings;
  readonly offer: unknown;
}

/** The greeting of one end. */
export interface Introduction {
  readonly settings: Settings;
  readonly deviceString: string;
  /** Port of the device; on an emulated board only the first port has a link. */
  readonly port: number;
  /** Whether this end waited for the other. */
  readonly waits: boolean;
}

/** The agreement of both ends. */
export interface Agreement {
  /** The device string to open, with the agreed link if it had none. */
  readonly deviceString: string;
  readonly here: Offer;
  readonly there: Offer;
}

/**
 * Exchanges commands, settings and devices with the other end, and agrees on a link between the devices.
 * @throws Error the other end runs another command, or no link joins the devices; the message names a suitable device
 */
export async function greet(
  conversation: Conversation,
  { settings, deviceString, port, waits }: Introduction,
): Promise<Agreement> {
  const here = offerOf(deviceString, port, conversation.addresses);
  conversation.say('greeting', { version, settings, offer: here });
  const greeting = await conversation.receive<Greeting>('greeting');
  if (greeting.version !== version) {
    throw new Error(
      `the other end speaks version ${greeting.version}, this one ${version}; use the same hca at both ends`,
    );
  }
  for (const [name, own] of Object.entries(settings)) {
    const [ours, theirs] = [own, greeting.settings[name]].map((setting) => JSON.stringify(setting));
    if (ours === theirs) continue;
    throw new Error(`${name} is ${ours} here and ${theirs} at the other end; give both ends the same`);
  }
  const there = readOffer(greeting.offer);
  const link = agreeOnLink(here, there, waits);
  return { deviceString: link === undefined ? deviceString : withLink(deviceString, link), here, there };
}

/**
 * Exchanges addresses with the other end, connects, and waits until both ends are connected.
 * @param queuePairs gives the queue pairs of an address, of which the first one is checked
 * @param connect connects this end to the other
 * @returns the address of the other end
 * @throws Error no link joins the devices, as their addresses tell; an error of `connect`
 */
export async function exchangeAddresses<Address>(
  conversation: Conversation,
  { here, there }: Agreement,
  address: Address,
  queuePairs: (address: Address) => readonly QueuePairAddress[],
  connect: (remote: Address) => void,
): Promise<Address> {
  conversation.say('address', { address });
  const { address: remote } = await conversation.receive<{ readonly address: Address }>('address');
  const [ours, theirs] = [address, remote].map((each) => queuePairs(each)[0]);
  checkReach(here, ours!.gid, there, String(theirs?.gid));
  connect(remote);
  conversation.say('connected');
  await conversation.receive('connected');
  return remote;
}
