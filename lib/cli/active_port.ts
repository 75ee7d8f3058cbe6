import { setTimeout } from 'node:timers/promises';

import { PortState, type Context } from '../index.ts';

const patience = 30_000; // milliseconds
const lookAgainAfter = 1; // milliseconds

/**
 * Until the port has somebody at the other end of its link: what is sent before is lost.
 * @throws Error nobody comes, or the signal's reason
 */
export async function untilActive(context: Context, port: number, signal: AbortSignal): Promise<void> {
  const givenUp = performance.now() + patience;
  while (context.queryPort(port).state !== PortState.active) {
    if (performance.now() > givenUp) {
      throw new Error(
        `port ${port} is down: nobody is at the other end of its link; the other end's device needs the same link`,
      );
    }
    await setTimeout(lookAgainAfter, undefined, { signal });
  }
}
