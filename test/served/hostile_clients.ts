import { loadTestAddon } from '../helpers/test_addon.ts';

/** Ways in which a process harms a served board; native/test/hostile_client.cpp. */
export type HostileWay =
  | 'asks for memory'
  | 'keeps memory'
  | 'brings descriptors'
  | 'is idle'
  | 'looks on'
  | 'watches without reading'
  | 'stops while it watches'
  | 'writes what it watches'
  | 'keeps what it watched'
  | 'comes and goes'
  | 'tears its ring'
  | 'punches holes'
  | 'sleeps on answers'
  | 'stops itself';

interface HostilePort {
  hostileStart(path: string, underlyingFunction: number, way: string, seed: number): number;
  hostileEnd(process: number): number;
  /** Clears O_NONBLOCK of an eventfd that a server signals, and fills it; false: the descriptor is no eventfd. */
  hostileBlock(descriptor: number): boolean;
  /** Raises a signal `times` times while its reader takes none; returns how many the reader could have taken. */
  signalWithoutReader(times: number): number;
}

export const hostilePort = loadTestAddon() as HostilePort;

const living: number[] = [];

/** Starts a hostile process, until {@link endHostile}. @throws Error it cannot start */
export function startHostile(path: string, underlyingFunction: number, way: HostileWay, seed = 1): void {
  living.push(hostilePort.hostileStart(path, underlyingFunction, way, seed));
}

/** Ends all hostile processes by SIGKILL. */
export function endHostile(): void {
  for (const process of living.splice(0)) hostilePort.hostileEnd(process);
}
