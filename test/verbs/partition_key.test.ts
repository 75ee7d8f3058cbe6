import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';

import { CompletionStatus, Opcode } from '../../lib/index.ts';
import { connect, makeEnd, makeMemory, settle, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped } from '../helpers/make_verbs.ts';

const bytes = 64;
const partitionKeyIndex = 1;

it('packets of a connection carry the P_Key that its index names when they leave', () => {
  const fabric = `partition key ${randomUUID()}`;
  const ends = [0, 1].map(() => makeEnd(makeVerbs(stepped, { fabric }))) as [End, End];
  const [from, to] = ends;
  const [source, target] = ends.map((end) => makeMemory(end, bytes));
  for (const partitionKey of [0x8005, 0x8006, 0x8007]) {
    for (const { verbs } of ends) verbs.context.setPartitionKey(1, partitionKeyIndex, partitionKey);
    if (partitionKey === 0x8005) {
      connect(from, to, { partitionKeyIndex });
      connect(to, from, { partitionKeyIndex });
    }
    source!.data.fill(partitionKey & 0xff);
    from.queuePair.postSend({
      opcode: Opcode.rdmaWrite,
      gather: [source!.region.slice()],
      remote: target!.region.remote(),
      signaled: true,
    });
    expect(settle(from)).toMatchObject([{ status: CompletionStatus.success }]);
    expect(target!.data.every((byte) => byte === (partitionKey & 0xff))).toBe(true);
  }
});
