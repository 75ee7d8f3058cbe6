import { expect, it } from 'vitest';

import { CompletionStatus, Opcode } from '../../lib/index.ts';
import { backends } from '../helpers/backends.ts';
import { makeConnection, patterned } from '../helpers/connection.ts';

const shared = backends.find(({ options }) => options.progress === 'shared')!;
const { success, localLengthError } = CompletionStatus;

it.each([1, 2] as const)('WRITEs and READs of 64 MiB and 3 B on %i board(s)', (boards) => {
  const { client, server, complete } = makeConnection({ backend: shared, boards });
  const bytes = (64 << 20) + 3;
  const here = patterned(client, bytes, 5);
  const there = server.protectionDomain.allocate(bytes, 0xf);
  client.queuePair.postSend({
    opcode: Opcode.rdmaWrite,
    remote: there.remote(),
    gather: [here.slice()],
    signaled: true,
  });
  expect(complete(client, 1)).toMatchObject([{ status: success, byteLength: bytes }]);
  expect(Buffer.compare(there.bytes, here.bytes)).toBe(0);
  const back = client.protectionDomain.allocate(bytes);
  client.queuePair.postSend({
    opcode: Opcode.rdmaRead,
    remote: there.remote(),
    gather: [back.slice()],
    signaled: true,
  });
  expect(complete(client, 1)).toMatchObject([{ status: success, byteLength: bytes }]);
  expect(Buffer.compare(back.bytes, here.bytes)).toBe(0);
});

it('a SEND of 2^31 B, the longest; one byte more is refused', () => {
  const { client, server, complete } = makeConnection({ backend: shared, boards: 1 });
  const share = 2 ** 31 / 16;
  const here = patterned(client, share + 1, 5);
  const there = server.protectionDomain.allocate(share);
  const repeated = <Slice>(slice: Slice): Slice[] => Array.from({ length: 16 }, () => slice);
  server.queuePair.postReceive({ scatter: repeated(there.slice()) });
  const gather = repeated(here.slice(1));
  client.queuePair.postSend({ opcode: Opcode.send, gather, signaled: true });
  expect(complete(server, 1)).toMatchObject([{ status: success, byteLength: 2 ** 31 }]);
  expect(complete(client, 1)).toMatchObject([{ status: success }]);
  expect(Buffer.compare(there.bytes, here.bytes.subarray(1))).toBe(0);
  client.queuePair.postSend({ opcode: Opcode.send, gather: [...gather.slice(1), here.slice()] });
  expect(complete(client, 1)).toMatchObject([{ status: localLengthError }]);
});

it('an RDMA WRITE of 2^31 B, the longest', () => {
  const { client, server, complete } = makeConnection({ backend: shared, boards: 1 });
  const share = 2 ** 31 / 16;
  const here = patterned(client, share, 5);
  const there = server.protectionDomain.allocate(2 ** 31, 0xf);
  const gather = Array.from({ length: 16 }, () => here.slice());
  client.queuePair.postSend({ opcode: Opcode.rdmaWrite, remote: there.remote(), gather, signaled: true });
  expect(complete(client, 1)).toMatchObject([{ status: success }]);
  for (let at = 0; at < 2 ** 31; at += share) {
    expect(Buffer.compare(there.bytes.subarray(at, at + share), here.bytes)).toBe(0);
  }
});
