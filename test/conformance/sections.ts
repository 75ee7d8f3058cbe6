import { creditingResponder, limitedRequester } from './end_to_end_credits.ts';
import { acknowledgements } from './requester_acknowledgements.ts';
import { failures } from './requester_failures.ts';
import { responses } from './requester_responses.ts';
import { retries } from './requester_retries.ts';
import { outOfOrder } from './responder_duplicates.ts';
import { inOrder } from './responder_in_order.ts';
import { refusals } from './responder_refusals.ts';
import type { Section } from './table.ts';
import { unacknowledged, unreliableConnection, unreliableDatagram } from './unreliable.ts';

/** The whole table. */
export const sections: readonly Section[] = [
  inOrder,
  outOfOrder,
  refusals,
  creditingResponder,
  unreliableConnection,
  unreliableDatagram,
  acknowledgements,
  responses,
  retries,
  failures,
  limitedRequester,
  unacknowledged,
];
