import { describe, expect, it } from 'vitest';

import { QueuePairState } from '../../lib/index.ts';
import type { ReceiveRequest } from '../../lib/index.ts';
import { makeQueuePair, makeVerbs } from '../helpers/make_verbs.ts';

describe('postReceive', () => {
  it('refuses work requests in RESET, and accepts them from INIT on', () => {
    const verbs = makeVerbs();
    const queuePair = makeQueuePair(verbs);
    expect(() => queuePair.postReceive({})).toThrow(
      expect.objectContaining({
        code: 'EINVAL',
        verb: 'postReceive',
        attribute: 'state',
        expected: 'QueuePairState.init or later',
      }),
    );
    queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: 0 });
    queuePair.postReceive({ wrId: 1, scatter: [verbs.protectionDomain.allocate(64).slice()] });
    queuePair.postReceive([{ wrId: 2 }, { wrId: 3 }]);
    expect(queuePair.driver.receiveQueue!.outstanding).toBe(3);
    queuePair.modify({ state: QueuePairState.reset });
    expect(queuePair.driver.receiveQueue!.outstanding).toBe(0);
  });

  it('reports a full queue or a list that is too long, and how many of a batch it has posted', () => {
    const verbs = makeVerbs();
    const queuePair = makeQueuePair(verbs, { maxReceiveWorkRequests: 4, maxScatterEntries: 1 });
    queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: 0 });
    const slice = verbs.protectionDomain.allocate(64).slice();
    const tooLong: ReceiveRequest = { scatter: [slice, slice] };
    expect(() => queuePair.postReceive(tooLong)).toThrow(
      expect.objectContaining({ code: 'EINVAL', verb: 'postReceive', attribute: 'scatter.length' }),
    );
    expect(() => queuePair.postReceive([{}, {}, tooLong])).toThrow(expect.objectContaining({ posted: 2 }));
    expect(() => queuePair.postReceive([{}, {}, {}])).toThrow(
      expect.objectContaining({ code: 'ENOMEM', posted: 2 }),
    );
    expect(() => queuePair.postReceive({})).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
  });
});
