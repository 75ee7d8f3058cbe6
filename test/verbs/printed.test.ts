import { inspect } from 'node:util';

import { expect, it } from 'vitest';

import { Completion, Opcode } from '../../lib/index.ts';
import { makeFailedQueuePair, makeVerbs } from '../helpers/make_verbs.ts';

it('values of enums are printed and written as JSON by the names of code, and stay numbers', () => {
  const verbs = makeVerbs();
  const queuePair = makeFailedQueuePair(verbs);
  const query = queuePair.query();
  expect(inspect(query)).toContain("state: 'error'");
  expect(JSON.parse(JSON.stringify(query))).toMatchObject({ state: 'error', retryCount: 0 });
  expect(query.state).toBe(6);
  const port = verbs.context.queryPort();
  expect(inspect(port)).toMatch(/state: 'active',\s+physicalState: 'linkUp'/);
  expect(JSON.parse(JSON.stringify(port))).toMatchObject({ linkLayer: 'ethernet', activeMtu: 'mtu4096' });
  queuePair.postSend({ opcode: Opcode.send });
  const completion = new Completion();
  while (verbs.completionQueue.poll([completion]) === 0);
  expect(inspect(completion)).toContain("status: 'workRequestFlushedError'");
  expect(JSON.parse(JSON.stringify(completion))).toMatchObject({ status: 'workRequestFlushedError' });
});
