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
  /** Takes O_NONBLOCK and all room from a descriptor that a server signals; false: it is none. */
  hostileBlock(descriptor: number): boolean;
  /** Raises a signal so often, the reader of which takes nothing; gives how many it could have taken. */
  signalWithoutReader(times: number): number;
}

export const hostilePort = loadTestAddon() as HostilePort;

const living: number[] = [];

/** A process that is hostile until {@link endHostile}. @throws Error it cannot be */
export function startHostile(path: string, underlyingFunction: number, way: HostileWay, seed = 1): void {
  living.push(hostilePort.hostileStart(path, underlyingFunction, way, seed));
}

/** Ends them all by SIGKILL. */
export function endHostile(): void {
  for (const process of living.splice(0)) hostilePort.hostileEnd(process);
}
