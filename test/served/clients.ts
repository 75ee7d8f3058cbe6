import { loadTestAddon } from '../helpers/test_addon.ts';

/** Uses of ring and socket by a client that is no driver. */
export type Way =
  | 'writes malformed messages'
  | 'takes no replies'
  | 'asks for what there is not'
  | 'sends garbage'
  | 'fills its ring'
  | 'stops';

/** Clients of native/test/served_client_port.cpp. */
export interface ServedClientPort {
  /** Opens a function, misbehaves, and stays connected; gives whether the server has ended that. Throws an Error: it is not open. */
  servedMisbehave(path: string, underlyingFunction: number, seed: number, way: Way): boolean;
  /** Ends all that misbehaved. */
  servedLetGo(): void;
  /**
   * A process of its own opens a function, works with it, and is ended by SIGKILL in the middle of a command. Gives the signal; 0: it could
   * not open the function.
   */
  servedDie(path: string, underlyingFunction: number, seed: number): number;
}

export const clientPort = loadTestAddon() as ServedClientPort;
