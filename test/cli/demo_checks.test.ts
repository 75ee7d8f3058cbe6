import { afterAll, describe, expect, it } from 'vitest';

import { EmulatedFabric } from '../../lib/board/index.ts';
import { checksOf } from '../../lib/cli/demo_checks.ts';
import { Connection } from '../../lib/connect/index.ts';
import { openDevice } from '../../lib/index.ts';

const fabric = new EmulatedFabric();
afterAll(() => fabric.close());

/** A connection, one of whose operations changes its result after it has completed. */
function makeLiar(
  operation: keyof Connection,
  lie: (there: Uint8Array, result: unknown) => unknown,
): Connection[] {
  const [a, b] = [0, 1].map(() => new Connection(openDevice(fabric.makeBoard().open(0)))) as [
    Connection,
    Connection,
  ];
  a.connect(b.address);
  b.connect(a.address);
  let memory: Uint8Array = new Uint8Array();
  const allocate = b.allocate.bind(b);
  b.allocate = (bytes) => {
    const region = allocate(bytes);
    memory = region.bytes;
    return region;
  };
  const honest = (a[operation] as (...words: unknown[]) => Promise<unknown>).bind(a);
  Object.assign(a, { [operation]: async (...words: unknown[]) => lie(memory, await honest(...words)) });
  return [a, b];
}

const damage = (there: Uint8Array): void => void (there[0]! ^= 1);

describe('the checks of hca demo', () => {
  it.each([
    ['SEND', 'send'],
    ['SEND with immediate', 'send'],
    ['SEND, inline', 'send'],
    ['SEND, gathered from 4 pieces', 'send'],
    ['RDMA WRITE', 'write'],
    ['RDMA WRITE with immediate', 'write'],
    ['RDMA READ', 'read'],
  ] as const)('%s: one wrong bit is found', async (name, operation) => {
    const [a, b] = makeLiar(operation, damage) as [Connection, Connection];
    const { run } = checksOf(a, b).find((check) => check.name === name)!;
    await expect(run()).rejects.toThrow(/^byte 0 of \d+ is \d+; \d+ was sent$/);
  });

  it.each([
    ['atomic compare and swap', 'compareAndSwap'],
    ['atomic fetch and add', 'fetchAndAdd'],
  ] as const)('%s: a wrong answer and a wrong result are found', async (name, operation) => {
    const lies = [
      (_: Uint8Array, was: unknown): unknown => (was as bigint) + 1n,
      (there: Uint8Array, was: unknown): unknown => {
        damage(there);
        return was;
      },
    ];
    for (const lie of lies) {
      const [a, b] = makeLiar(operation, lie) as [Connection, Connection];
      const { run } = checksOf(a, b).find((check) => check.name === name)!;
      await expect(run()).rejects.toThrow(/^\d+ was found where \d+ should be$/);
    }
  });
});
