import { expect, it } from 'vitest';

import { Completion, CompletionStatus, Opcode } from '../../lib/index.ts';
import { describeConnections, makeConnection } from '../helpers/connection.ts';

describeConnections('a peer that waits for what is solicited', (place) => {
  it('sleeps through the rest, which it finds when it wakes up', async () => {
    const { client, server, rest } = makeConnection(place);
    const { completionQueue } = server;
    const turns = async (): Promise<void> => {
      rest();
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    };
    server.queuePair.postReceive([{ wrId: 1 }, { wrId: 2 }, { wrId: 3 }]);
    let isAwake = false;
    const wait = completionQueue.wait({ solicitedOnly: true, timeout: 20_000 }).then(() => (isAwake = true));
    client.queuePair.postSend([{ opcode: Opcode.send }, { opcode: Opcode.send }]);
    await turns();
    expect(isAwake).toBe(false);
    client.queuePair.postSend({ opcode: Opcode.send, solicited: true });
    await turns();
    await wait;
    const completions = Array.from({ length: 4 }, () => new Completion());
    expect(completionQueue.poll(completions)).toBe(3);
    expect(completions.slice(0, 3)).toMatchObject(
      [1, 2, 3].map((wrId) => ({ wrId, status: CompletionStatus.success, solicited: wrId === 3 })),
    );
  });
});
