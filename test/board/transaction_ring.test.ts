import { expect, it } from 'vitest';

import { transactionRingStress } from '../helpers/register_file_board.ts';

it.each([1, 2, 4])('the ring loses, duplicates, reorders and tears no message of %i threads', (producers) => {
  expect(transactionRingStress(producers, 20_000 / producers, 17 + producers)).toBe('');
});
