import { setTimeout } from 'node:timers/promises';

import { openBeside, parseDeviceString } from '../../board/index.ts';
import { VerbsError } from '../../driver/errors.ts';
import { Observer } from '../../driver/observer.ts';
import type { Scope } from '../scope.ts';
import { observedName } from './own_function.ts';

/** Milliseconds between two looks at what is watched: a ring of kick records holds what comes in that time, and who looks sleeps in between. */
const usualPace = 100;

/**
 * Observes what a device string names, until the scope ends.
 * @param what of the message: what cannot be observed
 * @throws VerbsError EINVAL: a board that has no name, which this process alone would have
 */
export function observe(scope: Scope, deviceString: string, what: string, expected: string): Observer {
  const name = parseDeviceString(deviceString);
  if ((name.backend === 'emu' || name.backend === 'rtl') && name.options.name === undefined) {
    throw new VerbsError(
      `${deviceString} belongs to this command alone: it has no ${what} of other processes`,
      { code: 'EINVAL', verb: 'openDevice', attribute: '--device', expected },
    );
  }
  return scope.use(new Observer(openBeside(observedName(scope, name))));
}

/** Looks again and again until the command is interrupted, which is how watching ends. @param pace milliseconds between two looks */
export async function repeat(
  signal: AbortSignal,
  look: () => void | Promise<void>,
  pace = usualPace,
): Promise<void> {
  while (!signal.aborted) {
    await look();
    await setTimeout(pace, undefined, { signal }).catch(() => undefined);
  }
  await look(); // what came before the interruption
}

/** Says of a watch how much it has lost since it was asked last. */
export class Losses {
  private told = 0;

  /** @returns 0: nothing more */
  since(lost: number): number {
    const more = lost - this.told;
    this.told = lost;
    return more;
  }
}
