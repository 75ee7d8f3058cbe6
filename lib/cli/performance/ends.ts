import { openDevice, type Context } from '../../index.ts';
import { untilActive } from '../active_port.ts';
import { Conversation } from '../conversation.ts';
import { exchangeAddresses, greet, type Settings } from '../greeting.ts';
import { isOpen } from '../link_agreement.ts';
import type { Scope } from '../scope.ts';
import { openTwoBoards } from '../two_boards.ts';
import { drive, type Driving, type Side } from './drive.ts';
import { End, type EndAddress } from './end.ts';
import type { PerformanceOptions } from './options.ts';
import { driveWithPeer } from './peer.ts';

/** The end that begins and its peer, of which one may be in another process. */
export type Ends = Addresses &
  (
    | { readonly client: End; readonly server: End; readonly peer?: undefined }
    | { readonly client: End; readonly server?: undefined; readonly peer: Conversation }
    | { readonly client?: undefined; readonly server: End; readonly peer: Conversation }
  );

interface Addresses {
  /** Facts of the device of this process; of the first one if it has two. */
  readonly deviceString: string;
  readonly context: Context;
  readonly local: EndAddress;
  readonly remote: EndAddress;
}

/** The ends in this process, the one that begins first. */
export function endsHere({ client, server }: Ends): readonly End[] {
  return [client, server].filter((end) => end !== undefined);
}

/**
 * Connects two ends, both in this process or one, for as long as the scope lasts.
 * @param settings that both ends must share
 */
export async function connectEnds(
  deviceString: string,
  options: Pick<PerformanceOptions, 'ends' | 'meeting'>,
  settings: Settings,
  scope: Scope,
): Promise<Ends> {
  return options.meeting === undefined
    ? connectBothEnds(deviceString, options, scope)
    : connectOneEnd(deviceString, { ...options, meeting: options.meeting }, settings, scope);
}

function connectBothEnds(
  deviceString: string,
  { ends: options }: Pick<PerformanceOptions, 'ends'>,
  scope: Scope,
): Ends {
  const contexts = openTwoBoards(deviceString, scope);
  const [client, server] = contexts.map((context) => new End(context, options)) as [End, End];
  client.connect(server.address);
  server.connect(client.address);
  const [context] = contexts;
  return { client, server, context, deviceString, local: client.address, remote: server.address };
}

async function connectOneEnd(
  given: string,
  { ends: options, meeting }: Required<Pick<PerformanceOptions, 'ends' | 'meeting'>>,
  settings: Settings,
  scope: Scope,
): Promise<Ends> {
  const waits = meeting.host === undefined;
  const open = (device: string): Context => scope.use(openDevice(device));
  // A waiting end whose device has its link first checks that it can open the device; the other end opens nothing yet.
  const opened = waits && !isOpen(given) ? open(given) : undefined;
  const peer = await Conversation.meet(meeting, scope);
  const agreement = await greet(peer, { settings, deviceString: given, port: options.port, waits });
  const { deviceString } = agreement;
  const context = opened ?? open(deviceString);
  const end = new End(context, options);
  const remote = await exchangeAddresses(
    peer,
    agreement,
    end.address,
    ({ queuePairs }) => queuePairs,
    (address) => end.connect(address),
  );
  await untilActive(context, options.port, meeting.timeout, scope.signal);
  const common = { context, deviceString, peer, local: end.address, remote };
  return waits ? { server: end, ...common } : { client: end, ...common };
}

/**
 * Drives the sides of this process until they and those of the other process are done.
 * @param tell value for the other process then @returns the value of the other process; undefined: there is none
 */
export async function driveEnds<Tally extends object>(
  { peer }: Ends,
  sides: readonly Side[],
  driving: Driving,
  tell: () => Tally,
): Promise<Tally | undefined> {
  if (peer !== undefined) return driveWithPeer(peer, sides, driving, tell);
  await drive(sides, driving);
  return undefined;
}
