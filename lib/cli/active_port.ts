import { setTimeout } from 'node:timers/promises';

import { PortState, type Context } from '../index.ts';

const lookAgainAfter = 1; // milliseconds

/**
 * Waits until the port has a peer board: packets sent before are lost.
 * @param timeout seconds
 * @throws Error no board connects in time; the signal's reason
 */
export async function untilActive(
  context: Context,
  port: number,
  timeout: number,
  signal: AbortSignal,
): Promise<void> {
  const givenUp = performance.now() + timeout * 1000;
  while (context.queryPort(port).state !== PortState.active) {
    if (performance.now() > givenUp) {
      throw new Error(
        `port ${port} is down: no board is at the other end of its link; the other end's device needs the same link`,
      );
    }
    await setTimeout(lookAgainAfter, undefined, { signal });
  }
}
