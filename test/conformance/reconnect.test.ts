// Virtual queue pairs (US7095750): packets of former connections arrive at every PSN that a connection
// expects.
import { it } from 'vitest';

import { expectNoForeignByte } from './reconnecting.ts';

it('accepts no byte of a former connection in 300 reconnects of one queue pair', () => {
  expectNoForeignByte(300, 1);
});
