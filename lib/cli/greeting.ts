import type { QueuePairAddress } from '../connect/index.ts';
import type { Conversation } from './conversation.ts';
import { agreeOnLink, checkReach, offerOf, readOffer, withLink, type Offer } from './link_agreement.ts';

/** Settings that both ends share, by the names of the options. */
export type Settings = Readonly<Record<string, unknown>>;

/** Of what two ends say to each other. Only ends of one version understand each other. */
const version = 3;

interface Greeting {
  readonly version: number;
  readonly settings: Settings;
  readonly offer: unknown;
}

/** An end's part of the greeting. */
export interface Introduction {
  readonly settings: Settings;
  readonly deviceString: string;
  /** Of the device; only the first one of an emulated board has a link. */
  readonly port: number;
  /** Whether this end is the one that waited. */
  readonly waits: boolean;
}

/** The agreement of both ends. */
export interface Agreement {
  /** To open, with the link where it had none. */
  readonly deviceString: string;
  readonly here: Offer;
  readonly there: Offer;
}

/**
 * Both ends tell what they do and which devices they have, and agree on a link between them.
 * @throws Error the other end does something else, or no link joins the devices: then it says which device would be right
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
 * Both ends tell their addresses, and when they are connected.
 * @param queuePairs of an address, of which the first one is looked at
 * @param connect connects this end to the other
 * @returns the address of the other end
 * @throws Error no link joins the devices, as their addresses tell; what `connect` throws
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
