// Virtual queue pairs (US7095750): packets of former connections arrive at every PSN that a connection
// expects.
import { it } from 'vitest';

import { expectNoForeignByte } from './reconnecting.ts';

it(
  'accepts no byte of a former connection in 100,000 reconnects of one queue pair',
  { timeout: 1_800_000 },
  () => {
    expectNoForeignByte(100_000, 2);
  },
);
