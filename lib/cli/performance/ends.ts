import { openDevice, type Context } from '../../index.ts';
import { untilActive } from '../active_port.ts';
import { openTwoBoards } from '../two_boards.ts';
import { drive, type Driving, type Side } from './drive.ts';
import { End, type EndAddress } from './end.ts';
import type { PerformanceOptions } from './options.ts';
import { Peer, type Settings } from './peer.ts';

/** The one that begins and its peer, of which one may be in another process. */
export type Ends = Addresses &
  (
    | { readonly client: End; readonly server: End; readonly peer?: undefined }
    | { readonly client: End; readonly server?: undefined; readonly peer: Peer }
    | { readonly client?: undefined; readonly server: End; readonly peer: Peer }
  );

interface Addresses {
  readonly context: Context;
  readonly local: EndAddress;
  readonly remote: EndAddress;
}

/** Those that are in this process, the one that begins first. */
export function endsHere({ client, server }: Ends): readonly End[] {
  return [client, server].filter((end) => end !== undefined);
}

/**
 * Connects two ends, both in this process or one, for as long as `measure` runs.
 * @param settings what both have to agree on
 */
export async function withEnds<Result>(
  deviceString: string,
  options: Pick<PerformanceOptions, 'ends' | 'meeting' | 'signal'>,
  settings: Settings,
  measure: (ends: Ends) => Promise<Result>,
): Promise<Result> {
  return options.meeting === undefined
    ? withBothEnds(deviceString, options, measure)
    : withOneEnd(deviceString, options, settings, measure);
}

async function withBothEnds<Result>(
  deviceString: string,
  { ends: options }: Pick<PerformanceOptions, 'ends'>,
  measure: (ends: Ends) => Promise<Result>,
): Promise<Result> {
  const contexts = openTwoBoards(deviceString);
  try {
    const [client, server] = contexts.map((context) => new End(context, options)) as [End, End];
    client.connect(server.address);
    server.connect(client.address);
    const [context] = contexts;
    const result = await measure({ client, server, context, local: client.address, remote: server.address });
    for (const end of [client, server]) end.close();
    return result;
  } finally {
    for (const context of new Set(contexts)) context[Symbol.dispose]();
  }
}

async function withOneEnd<Result>(
  deviceString: string,
  { ends: options, meeting, signal }: Pick<PerformanceOptions, 'ends' | 'meeting' | 'signal'>,
  settings: Settings,
  measure: (ends: Ends) => Promise<Result>,
): Promise<Result> {
  const waits = meeting!.host === undefined;
  // Who waits finds out first whether it can; who looks opens nothing while nobody is there.
  using opened = waits ? openDevice(deviceString) : undefined;
  const peer = await Peer.meet({ ...meeting!, signal });
  try {
    using context = opened ?? openDevice(deviceString);
    const end = new End(context, options);
    const remote = await peer.greet(settings, end.address, (address) => end.connect(address));
    await untilActive(context, options.port, signal);
    const addresses = { context, peer, local: end.address, remote };
    const result = await measure(waits ? { server: end, ...addresses } : { client: end, ...addresses });
    await peer.part();
    end.close();
    return result;
  } catch (error) {
    peer.fail(error);
    throw error;
  }
}

/**
 * Drives the sides of this process until they and those of the other are done.
 * @param tell what the other process is told then @returns what it tells; undefined: there is none
 */
export async function driveEnds<Tally extends object>(
  { peer }: Ends,
  sides: readonly Side[],
  driving: Driving,
  tell: () => Tally,
): Promise<Tally | undefined> {
  if (peer !== undefined) return peer.drive(sides, driving, tell);
  await drive(sides, driving);
  return undefined;
}
