import { describe, expect, it } from 'vitest';

import { exchange, connectPair, open, serve, untilOpen, type Serving } from './serving.ts';
import { functionRegister } from '../helpers/function_verbs.ts';
import { clientPort, type Way } from './clients.ts';
import type { Connection } from '../../lib/connect/index.ts';
import type { Verbs } from '../helpers/make_verbs.ts';

const sigkill = 9;
const small = { queuePairs: 64, pageTableEntries: 4096, memoryKeys: 256 };

/** A served board with two well-behaved clients. */
function serveTwo(): Serving & { readonly pair: [Connection, Connection] } {
  const serving = serve(small);
  const [one, other] = [1, 2].map((number) => open(`serve:${serving.path}/${number}`));
  return { ...serving, pair: connectPair(one!, other!) };
}

/** Expects function 3 to be completely reclaimed: none of its resources is in use, and a driver works with it. */
async function expectReclaimed({ path, board }: Serving): Promise<void> {
  const context = open(`serve:${path}/3`);
  const verbs = { context, board } as Verbs;
  for (const name of ['physical_collect_buffers_in_use', 'virtual_collect_buffer_in_use']) {
    expect([name, ...new Set(functionRegister(verbs, name))]).toEqual([name, 0n]);
  }
  await exchange(connectPair(context, context), 33);
  context[Symbol.dispose]();
}

describe('a client of a served board', () => {
  it.each<[Way, string]>([
    ['writes malformed messages', ''],
    ['takes no replies', 'it does not read its replies'],
    ['asks for what there is not', 'a request of an unknown kind'],
    ['sends garbage', 'a message that is not a request of this version'],
  ])('that %s is disconnected, and the others are still served', async (way, reason) => {
    const serving = serveTwo();
    for (const seed of [1, 2, 3]) {
      expect(clientPort.servedMisbehave(serving.path, 3, seed, way)).toBe(true);
      await untilOpen(serving, [1, 2]);
      await exchange(serving.pair, seed);
    }
    clientPort.servedLetGo();
    const refused = serving.served.takeNotices().filter(({ kind }) => kind === 'refused');
    expect(refused.map(({ underlyingFunction }) => underlyingFunction)).toEqual([3, 3, 3]);
    for (const notice of refused) expect(notice.reason).toContain(reason);
    await expectReclaimed(serving);
  });

  it.each<Way>(['fills its ring', 'stops'])(
    'that %s harms no other, and leaves nothing behind',
    async (way) => {
      const serving = serveTwo();
      for (const seed of [4, 5, 6]) {
        expect(clientPort.servedMisbehave(serving.path, 3, seed, way)).toBe(false);
        for (let times = 0; times < 5; times += 1) await exchange(serving.pair, seed + times);
        clientPort.servedLetGo();
        await untilOpen(serving, [1, 2]);
      }
      await expectReclaimed(serving);
    },
  );

  it('that is killed at any point of a command harms no other, and leaves nothing behind', async () => {
    const serving = serveTwo();
    for (let seed = 1; seed <= 60; seed += 1) {
      expect([seed, clientPort.servedDie(serving.path, 3, seed)]).toEqual([seed, sigkill]);
      await exchange(serving.pair, seed);
      await untilOpen(serving, [1, 2]);
      if (seed % 20 === 0) await expectReclaimed(serving);
    }
  });
});
