import { blockNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import type { Verbs } from './make_verbs.ts';

/** Sets the board's time-wait of connections that end from now on, in microseconds; 0: by their timeout and retries. */
export function setTimeWait({ context }: Pick<Verbs, 'context'>, microseconds: number): void {
  const { offset } = registerNamed(blockNamed('control'), 'time_wait');
  context.driver.device.controlPage!.write32(offset, microseconds);
}
