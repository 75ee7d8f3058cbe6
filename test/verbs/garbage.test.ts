import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';

import { Completion, Opcode } from '../../lib/index.ts';
import { backends } from '../helpers/backends.ts';
import { makeFailedQueuePair, makeVerbs } from '../helpers/make_verbs.ts';

const operations = 100_000;
/**
 * Bytes per operation below which the operation allocates nothing: the runtime itself creates some garbage.
 */
const noise = 8;

it('posting sends and receives, and polling their completions, allocates no memory', () => {
  const shared = backends.find(({ options }) => options.progress === 'shared')!;
  const verbs = makeVerbs(shared);
  const queuePair = makeFailedQueuePair(verbs);
  const { completionQueue, protectionDomain } = verbs;
  const region = protectionDomain.allocate(4096);
  const send = {
    opcode: Opcode.rdmaWrite,
    wrId: 0,
    gather: [region.slice(0, 64), region.slice(64)],
    remote: region.remote(),
  };
  const batch = [send, { ...send, gather: undefined, inlineData: new Uint8Array(32) }];
  const completions = Array.from({ length: 4 }, () => new Completion());
  const run = (): void => {
    for (let count = 0; count < operations; count += 3) {
      send.wrId = count;
      queuePair.postSend(send);
      queuePair.postSend(batch);
      for (let left = 3; left > 0;) {
        const taken = completionQueue.poll(completions);
        left -= taken;
      }
    }
  };
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  run(); // until the loop is compiled
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  run();
  expect((process.memoryUsage().heapUsed - before) / operations).toBeLessThan(noise);
  expect(completions[0]!.wrId).toBeGreaterThan(0);
});
