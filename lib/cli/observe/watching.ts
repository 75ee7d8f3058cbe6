import { setTimeout } from 'node:timers/promises';

import { openBeside, parseDeviceString } from '../../board/index.ts';
import { VerbsError } from '../../driver/errors.ts';
import { Observer } from '../../driver/observer.ts';
import type { Scope } from '../scope.ts';
import { observedName } from './own_function.ts';

/** Polling interval of a watch in milliseconds, during which the observer sleeps: a ring of kick records holds the records of that time. */
const usualPace = 100;

/**
 * Observes the device of a device string until the scope ends.
 * @param what for the error message: the kind of records
 * @throws VerbsError EINVAL: the board has no name, so only this process would use it
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

/** Polls until the command is interrupted, which is the usual end. @param pace polling interval in milliseconds */
export async function repeat(
  signal: AbortSignal,
  look: () => void | Promise<void>,
  pace = usualPace,
): Promise<void> {
  while (!signal.aborted) {
    await look();
    await setTimeout(pace, undefined, { signal }).catch(() => undefined);
  }
  await look(); // records from before the interruption
}

/** Reports how much a watch has lost since the last report. */
export class Losses {
  private told = 0;

  /** @returns 0: nothing new */
  since(lost: number): number {
    const more = lost - this.told;
    this.told = lost;
    return more;
  }
}
