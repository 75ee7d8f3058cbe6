import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { isIP } from 'node:net';

import { formatDeviceString, parseDeviceString } from '../board/index.ts';

/** The device of an end, and its place. */
export interface Offer {
  readonly device: string;
  /** `open`: an emulated board without a link, which accepts any. `device`: hardware. */
  readonly kind: 'open' | 'shm' | 'udp' | 'ethernet' | 'serve' | 'fabric' | 'device';
  /** Name, address or paths of the link; the name of a served board. */
  readonly place: string;
  readonly linkLayer: string;
  /** Ends with the same value reach each other's loopback addresses. */
  readonly network: string;
  /** Ends with the same value share memory: one machine, network and user. */
  readonly memory: string;
  /** Addresses of this end and of the other end on their TCP connection, as this end sees them. */
  readonly ownAddress: string;
  readonly otherAddress: string;
  /** A unique name: 12 hexadecimal digits. */
  readonly token: string;
}

const tokenBytes = 6;
const fields = [
  'device',
  'kind',
  'place',
  'linkLayer',
  'network',
  'memory',
  'ownAddress',
  'otherAddress',
  'token',
] as const satisfies readonly (keyof Offer)[];

/** @throws Error the port is not the first of an emulated board without a link: only the first port can have one */
export function offerOf(
  deviceString: string,
  port: number,
  addresses: { readonly local: string; readonly remote: string },
): Offer {
  const offer = {
    device: deviceString,
    ...kindOf(deviceString),
    ...whereabouts(),
    ownAddress: plain(addresses.local),
    otherAddress: plain(addresses.remote),
    token: randomBytes(tokenBytes).toString('hex'),
  };
  if (offer.kind === 'open' && port !== 1) {
    throw new Error(`port ${port} of an emulated board has no link to another process; use --ib-port 1`);
  }
  return offer;
}

/** @throws Error it is none */
export function readOffer(said: unknown): Offer {
  const offer = said as Offer | null | undefined;
  const isOffer = typeof offer === 'object' && offer !== null;
  if (isOffer && fields.every((field) => typeof offer[field] === 'string')) return offer;
  throw new Error('the other end did not send its device; use the same hca at both ends');
}

/** Whether only ends of `hca` can reach its device. */
export function isOfOurOwn(deviceString: string): boolean {
  return ['open', 'shm', 'fabric'].includes(kindOf(deviceString).kind);
}

/** Whether its board uses the link that both ends agree on. */
export function isOpen(deviceString: string): boolean {
  return kindOf(deviceString).kind === 'open';
}

/** The device string of an emulated board, with another link. */
export function withLink(deviceString: string, link: string): string {
  const name = parseDeviceString(deviceString);
  if (name.backend !== 'emu' && name.backend !== 'rtl') return deviceString;
  return formatDeviceString({ ...name, options: { ...name.options, link } }).replaceAll('%3A', ':');
}

/**
 * Determines the link between this end and the other. Both ends compute the same result independently.
 * @param waits whether this end waited for the other
 * @returns undefined: the link that its device has
 * @throws Error no link joins them; the message names a suitable device
 */
export function agreeOnLink(here: Offer, there: Offer, waits: boolean): string | undefined {
  const emulated = ['open', 'shm'];
  if (emulated.includes(here.kind) && emulated.includes(there.kind) && here.linkLayer !== there.linkLayer) {
    throw unlinked(here, there, `give both ends the same linkLayer`);
  }
  if (here.kind === 'open' && there.kind === 'open') return newLink(here, there, waits);
  if (here.kind === 'open') {
    const link = linkTo(there, here);
    if (link !== undefined) return link;
    throw unlinked(here, there, cure(there, here, 'here'));
  }
  if (there.kind === 'open') {
    if (linkTo(here, there) !== undefined) return undefined;
    throw unlinked(here, there, cure(here, there, 'at the other end'));
  }
  checkFixed(here, there);
  return undefined;
}

/** The link of two boards that accept any. */
function newLink(here: Offer, there: Offer, waits: boolean): string {
  const { token } = waits ? here : there;
  if (isOneMemory(here, there)) return `shm:hca-${token}`;
  if (here.linkLayer !== 'ethernet') {
    throw unlinked(here, there, 'run both ends on one machine, as one user: InfiniBand boards share memory');
  }
  const isSeenAlike = here.ownAddress === there.otherAddress && there.ownAddress === here.otherAddress;
  if (isSeenAlike && here.ownAddress !== there.ownAddress) return `udp:${here.ownAddress}`;
  if (isOneNetwork(here, there)) return `udp:${loopbackAddress(token, waits ? 1 : 2)}`;
  throw unlinked(here, there, eachItsAddress);
}

const eachItsAddress =
  "give each end --device 'emu:?link=udp:ADDRESS', with an address of its own machine that the other reaches";

/** The link of a board that accepts any, for a peer that has its own. */
function linkTo(fixed: Offer, open: Offer): string | undefined {
  if (fixed.kind === 'shm') return isOneMemory(fixed, open) ? `shm:${fixed.place}` : undefined;
  if (fixed.kind !== 'udp' || open.linkLayer !== 'ethernet') return undefined;
  const isFar = open.ownAddress !== fixed.place && !isLoopback(open.ownAddress) && !isLoopback(fixed.place);
  if (isFar && isIP(open.ownAddress) === isIP(fixed.place)) return `udp:${open.ownAddress}`;
  const isNear = isOneNetwork(fixed, open) && isIP(fixed.place) === 4;
  const address = loopbackAddress(open.token, 2);
  return isNear && address !== fixed.place ? `udp:${address}` : undefined;
}

/** A link that would join them, for the end that has no link of its own. */
function cure(fixed: Offer, open: Offer, where: string): string {
  const give = (device: string): string => `give --device '${device}' ${where}`;
  switch (fixed.kind) {
    case 'serve':
      return isOneNetwork(fixed, open)
        ? give(`serve:${fixed.place}`)
        : 'serve a board with a link of its own, and give both ends one';
    case 'ethernet': {
      const [ours, theirs] = fixed.place.split(',');
      return give(
        withLink(open.device, `ethernet:${theirs},${ours}`).replaceAll('%2F', '/').replaceAll('%2C', ','),
      );
    }
    case 'fabric':
      return `leave out fabric: it joins boards of one process; both ends find a link without it`;
    case 'shm':
      return `run both ends on one machine as one user, or ${eachItsAddress}`;
    case 'udp':
      return give(withLink(open.device, 'udp:ADDRESS')) + `, with an address that ${fixed.place} reaches`;
    default:
      return 'give both ends devices of one network';
  }
}

/** Checks two ends that have links of their own. @throws Error the links cannot work together */
function checkFixed(here: Offer, there: Offer): void {
  const ownKinds = ['shm', 'fabric'];
  if (![here, there].some(({ kind }) => ownKinds.includes(kind))) return;
  const isOneLink = here.kind === 'shm' && there.kind === 'shm' && here.place === there.place;
  if (isOneLink && isOneMemory(here, there)) return;
  const shared = [here, there].find(({ kind }) => kind === 'shm');
  if ([here, there].some(({ kind }) => kind === 'fabric') || shared === undefined) {
    throw unlinked(
      here,
      there,
      'leave out fabric: it joins boards of one process; both ends find a link without it',
    );
  }
  const served = [here, there].find(({ kind }) => kind === 'serve');
  if (served !== undefined) throw unlinked(here, there, `give both ends --device 'serve:${served.place}'`);
  throw unlinked(
    here,
    there,
    isOneMemory(here, there)
      ? `give both ends --device 'emu:?link=shm:${shared.place}'`
      : `run both ends on one machine as one user, or ${eachItsAddress}`,
  );
}

const ipv4Prefix = '00000000000000000000ffff';

/**
 * Checks GIDs of queue pairs, 32 hexadecimal digits: boards with a UDP link have another kind than boards without.
 * @throws Error no link joins the devices; the message names a suitable device
 */
export function checkReach(here: Offer, ownGid: string, there: Offer, otherGid: string): void {
  const kinds = [here.kind, there.kind];
  const isAlike = ownGid.startsWith(ipv4Prefix) === otherGid.startsWith(ipv4Prefix);
  if (isAlike || !kinds.includes('udp') || !kinds.includes('serve')) return;
  const served = here.kind === 'serve' ? here : there;
  throw unlinked(here, there, `give both ends --device 'serve:${served.place}'`);
}

function unlinked(here: Offer, there: Offer, what: string): Error {
  return new Error(`no link joins ${here.device} here and ${there.device} at the other end; ${what}`);
}

function isOneMemory(here: Offer, there: Offer): boolean {
  return here.memory !== '' && here.memory === there.memory;
}

function isOneNetwork(here: Offer, there: Offer): boolean {
  return here.network !== '' && here.network === there.network;
}

function kindOf(deviceString: string): Pick<Offer, 'kind' | 'place' | 'linkLayer'> {
  const name = parseDeviceString(deviceString);
  if (name.backend === 'serve') return { kind: 'serve', place: name.path, linkLayer: '' };
  if (!('options' in name)) return { kind: 'device', place: name.address, linkLayer: '' };
  const { link, fabric, linkLayer = 'ethernet' } = name.options;
  if (fabric !== undefined) return { kind: 'fabric', place: fabric, linkLayer };
  if (link === undefined) return { kind: 'open', place: '', linkLayer };
  const colon = link.indexOf(':');
  const kind = link.slice(0, Math.max(0, colon));
  const place = link.slice(colon + 1);
  if (kind === 'shm' || kind === 'udp' || kind === 'ethernet') return { kind, place, linkLayer };
  return { kind: 'device', place: link, linkLayer }; // opening it reports the error
}

/** Identifiers that only processes of one machine, network and user share; empty if the system does not show them. */
function whereabouts(): Pick<Offer, 'network' | 'memory'> {
  try {
    const machine = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const network = `${machine} ${readlinkSync('/proc/self/ns/net')}`;
    return { network, memory: `${network} ${readlinkSync('/proc/self/ns/user')} ${process.getuid?.()}` };
  } catch {
    return { network: '', memory: '' };
  }
}

/** An IPv4 address in its own notation, if a socket of both families has mapped it. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

/** One of the addresses that only this machine has. */
function loopbackAddress(token: string, end: number): string {
  const [second, third] = [token.slice(0, 2), token.slice(2, 4)].map(
    (digits) => 1 + (Number.parseInt(digits, 16) % 250),
  );
  return `127.${second}.${third}.${end}`;
}
