import { loadTestAddon } from '../helpers/test_addon.ts';

/** Ways in which a misbehaving client uses its ring and socket. */
export type Way =
  | 'writes malformed messages'
  | 'takes no replies'
  | 'asks for what there is not'
  | 'sends garbage'
  | 'fills its ring'
  | 'stops';

/** Clients of native/test/served_client_port.cpp. */
export interface ServedClientPort {
  /** Opens a function, misbehaves, and stays connected; returns whether the server disconnected it. @throws Error the function cannot be opened */
  servedMisbehave(path: string, underlyingFunction: number, seed: number, way: Way): boolean;
  /** Ends all misbehaving clients. */
  servedLetGo(): void;
  /**
   * Runs a process that opens a function, uses it, and dies by SIGKILL in the middle of a command. Returns the signal; 0: the process could
   * not open the function.
   */
  servedDie(path: string, underlyingFunction: number, seed: number): number;
}

export const clientPort = loadTestAddon() as ServedClientPort;
