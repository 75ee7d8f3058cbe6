import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { ConfigurationSpace } from '../helpers/pci_proxy/configuration_space.ts';
import { ProxyCommand, ProxyMessages, answerMessage } from '../helpers/pci_proxy/message.ts';
import { servePciFunction, type ServedPciFunction } from '../helpers/pci_proxy/pci_proxy.ts';
import {
  IDENTITY_MAGIC_OFFSET,
  IDENTITY_MAGIC_RESET,
  IDENTITY_QUEUE_PAIRS_OFFSET,
  RegionType,
  UNDERLYING_FUNCTION_STATUS_OFFSET,
} from '../../lib/spec/index.ts';

describe('proxy messages', () => {
  it('are assembled from parts of any size', () => {
    const whole = Buffer.concat([answerMessage(7n), Buffer.alloc(16), answerMessage(2n ** 64n - 1n)]);
    for (let size = 1; size <= whole.length; size++) {
      const messages = new ProxyMessages();
      const found = [];
      for (let at = 0; at < whole.length; at += size)
        found.push(...messages.take(whole.subarray(at, at + size)));
      expect(found.map(({ command }) => command)).toEqual([ProxyCommand.answer, 0, ProxyCommand.answer]);
      expect(found[2]!.payload.readBigUInt64LE()).toBe(2n ** 64n - 1n);
    }
  });
});

describe('the configuration space', () => {
  const space = (): ConfigurationSpace =>
    new ConfigurationSpace([
      { bar: 0, bytes: 0x100000, prefetchable: false },
      { bar: 2, bytes: 0x1000, prefetchable: true },
    ]);

  it('identifies the function', () => {
    expect(space().read(0, 4)).toBe(0x4856_1234);
    expect(space().read(0x2c, 4)).toBe(0x4856_1234);
    expect(space().read(0x0a, 2)).toBe(0x0c06);
  });

  it('returns the sizes of the BARs, and accepts their addresses', () => {
    const served = space();
    for (const [offset, told] of [
      [0x10, 0xfff0_0000],
      [0x14, 0],
      [0x18, 0xffff_f008],
    ] as const) {
      served.write(offset, 0xffff_ffff, 4);
      expect(served.read(offset, 4)).toBe(told);
    }
    served.write(0x10, 0xfe80_0000, 4);
    served.write(0x18, 0xfea0_0000, 4);
    expect(served.find(0xfe80_0004n)).toEqual({ bar: 0, offset: 4 });
    expect(served.find(0xfea0_0ff8n)).toEqual({ bar: 2, offset: 0xff8 });
    expect(served.find(0xfea0_1000n)).toBeUndefined();
  });

  it('ignores writes to read-only registers', () => {
    const served = space();
    for (const offset of [0, 8, 0x2c, 0x34, 0x40]) {
      const before = served.read(offset, 4);
      expect(served.write(offset, 0xffff_ffff, 4)).toEqual({ reset: false });
      expect(served.read(offset, 4)).toBe(before);
    }
  });

  it('sets bus mastering, and clears it on a function-level reset', () => {
    const served = space();
    served.write(4, 6, 2);
    expect(served.busMaster).toBe(true);
    served.write(0x10, 0xfe80_0000, 4);
    expect(served.write(0x44, 1, 1)).toEqual({ reset: true });
    expect(served.busMaster).toBe(false);
    expect(served.read(0x10, 4)).toBe(0);
  });
});

const sizes = { queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 };

/** A board that is served, and the machine's end of its socket. */
async function serveBoard(underlyingFunction = 0): Promise<{
  board: EmulatedBoard;
  served: ServedPciFunction;
  ask: (command: number, payload: Buffer) => Promise<bigint>;
}> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-proxy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const memory = path.join(folder, 'memory');
  writeFileSync(memory, '');
  truncateSync(memory, 1 << 20);
  const board = new EmulatedBoard({ ...sizes, virtualCollectBuffers: 128 });
  const server = createServer().listen(path.join(folder, 'socket'));
  const machine = connect(path.join(folder, 'socket'));
  const [stream] = (await once(server, 'connection')) as [Socket];
  const served = servePciFunction(
    board,
    stream,
    { memory: { path: memory, bytes: 1 << 20 } },
    underlyingFunction,
  );
  onTestFinished(async () => {
    machine.destroy();
    server.close();
    await served.ended;
    board.close();
  });
  const ask = async (command: number, payload: Buffer): Promise<bigint> => {
    const header = Buffer.alloc(16);
    header.writeInt32LE(command, 0);
    header.writeBigUInt64LE(BigInt(payload.length), 8);
    machine.write(Buffer.concat([header, payload]));
    const [answer] = (await once(machine, 'data')) as [Buffer];
    return answer.readBigUInt64LE(16);
  };
  return { board, served, ask };
}

const barPayload = (address: number, value: bigint, bytes: number): Buffer => {
  const payload = Buffer.alloc(24);
  payload.writeBigUInt64LE(BigInt(address), 0);
  payload.writeBigUInt64LE(value, 8);
  payload.writeUInt32LE(bytes, 16);
  return payload;
};

const configurationPayload = (offset: number, value: number, bytes: number): Buffer => {
  const payload = Buffer.alloc(12);
  payload.writeUInt32LE(offset, 0);
  payload.writeUInt32LE(value, 4);
  payload.writeInt32LE(bytes, 8);
  return payload;
};

describe('the emulated board as a PCI function', () => {
  it('answers accesses of every size to its BARs', async () => {
    const { board, ask } = await serveBoard();
    const begin = 0xfe80_0000;
    const read = (offset: number, bytes: number): Promise<bigint> =>
      ask(ProxyCommand.readBar, barPayload(begin + offset, 0n, bytes));
    expect(await read(0, 4)).toBe(0xffff_ffff_ffff_ffffn); // it has no address yet
    await ask(ProxyCommand.writeConfiguration, configurationPayload(0x10, begin, 4));
    expect(await read(0, 4)).toBe(BigInt(IDENTITY_MAGIC_RESET));
    expect((await read(1, 1)) & 0xffn).toBe((BigInt(IDENTITY_MAGIC_RESET) >> 8n) & 0xffn);
    expect(await read(0, 8)).toBe(BigInt(IDENTITY_MAGIC_RESET) | (0x10000n << 32n));
    const { writes } = board.counters();
    for (const bytes of [1, 2, 4, 8]) {
      await ask(ProxyCommand.writeBar, barPayload(begin + 0x20000, 0n, bytes));
    }
    await read(0, 4);
    expect(board.counters().writes - writes).toBe(4);
  });

  it('can be replaced by another board at the same addresses if its regions fit', async () => {
    const { served, ask } = await serveBoard();
    const begin = 0xfe80_0000;
    await ask(ProxyCommand.writeConfiguration, configurationPayload(0x10, begin, 4));
    const queuePairs = (): Promise<bigint> =>
      ask(ProxyCommand.readBar, barPayload(begin + IDENTITY_QUEUE_PAIRS_OFFSET, 0n, 4));
    expect(await queuePairs()).toBe(64n);
    using another = new EmulatedBoard({ ...sizes, queuePairs: 16, virtualCollectBuffers: 64 });
    served.load(another);
    expect(await queuePairs()).toBe(16n);
    using large = new EmulatedBoard({ ...sizes, virtualCollectBuffers: 256 });
    expect(() => served.load(large)).toThrow(/the board has \d+ B in BAR 2; expected: at most \d+ B/);
    expect(await queuePairs()).toBe(16n);
  });

  it('is the given underlying function, and does not respond if the board has fewer functions', async () => {
    const { board, served, ask } = await serveBoard(2);
    const begin = 0xfe80_0000;
    await ask(ProxyCommand.writeConfiguration, configurationPayload(0x10, begin, 4));
    const { offset, pageStride } = board.regions.find(({ type }) => type === RegionType.underlyingFunction)!;
    const read = async (place: number): Promise<bigint> =>
      (await ask(ProxyCommand.readBar, barPayload(begin + place, 0n, 4))) & 0xffff_ffffn;
    const numbers = async (): Promise<(bigint | undefined)[]> => {
      const found: (bigint | undefined)[] = [];
      for (const page of [0, 1, 2, 3]) {
        const status = await read(offset + page * pageStride + UNDERLYING_FUNCTION_STATUS_OFFSET);
        found.push(status === 0xffff_ffffn ? undefined : status >> 8n);
      }
      return found;
    };
    expect(await numbers()).toEqual([undefined, undefined, 2n, undefined]);
    using fewer = new EmulatedBoard({ ...sizes, underlyingFunctions: 2, virtualCollectBuffers: 64 });
    served.load(fewer);
    expect(await numbers()).toEqual([undefined, undefined, undefined, undefined]);
    expect(await read(IDENTITY_MAGIC_OFFSET)).toBe(0xffff_ffffn);
    for (const bytes of [1, 4, 8]) await ask(ProxyCommand.writeBar, barPayload(begin, 0n, bytes));
    expect(await ask(ProxyCommand.writeConfiguration, configurationPayload(4, 6, 2))).toBe(0n);
    expect(fewer.counters().writes).toBe(0);
    using whole = new EmulatedBoard({ ...sizes, virtualCollectBuffers: 64 });
    served.load(whole);
    expect(await numbers()).toEqual([undefined, undefined, 2n, undefined]);
  });

  it('is reset when the machine resets', async () => {
    const { ask } = await serveBoard();
    await ask(ProxyCommand.writeConfiguration, configurationPayload(4, 6, 2));
    await ask(ProxyCommand.reset, Buffer.alloc(0));
    expect(await ask(ProxyCommand.readConfiguration, configurationPayload(4, 0, 2))).toBe(0n);
  });
});
