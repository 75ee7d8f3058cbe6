import { Connection } from '../connect/index.ts';
import type { MemoryRegion } from '../index.ts';

/** One operation that the demonstration checks. */
export interface Check {
  readonly name: string;
  /** @returns number of bytes compared @throws Error a byte is wrong; CompletionError */
  readonly run: () => Promise<number>;
}

/** Sizes around the path MTU of 1024 B, and larger ones. */
const sizes = [0, 1, 64, 1023, 1024, 1025, 4096, 65_536, 1 << 20] as const;
const largest = 1 << 20;
const inlineSizes = [1, 8, 31, 64] as const;

/** Every operation of a reliable connection, from `a` to `b`. */
export function checksOf(a: Connection, b: Connection): readonly Check[] {
  const [here, there] = [a.allocate(largest), b.allocate(largest)];
  let seed = 0;
  const fresh = (): void => {
    seed += 1;
    fill(here, seed);
    there.bytes.fill(0);
  };
  const eachSize = (run: (bytes: number) => Promise<void>) => async (): Promise<number> => {
    let compared = 0;
    for (const bytes of sizes) {
      fresh();
      await run(bytes);
      compared += compare(here.bytes.subarray(0, bytes), there.bytes.subarray(0, bytes));
    }
    return compared;
  };
  const immediateData = 0x0bad_cafe;
  const toldBy = async (received: ReturnType<Connection['receive']>, byteLength: number): Promise<void> => {
    const told = await received;
    if (told.byteLength !== byteLength || told.immediateData !== immediateData) {
      throw new Error(`${told.byteLength} B with ${told.immediateData} were received, not ${byteLength} B`);
    }
  };
  const counter = there.remote().slice(0, 8);
  const value = new BigUint64Array(there.bytes.buffer, there.bytes.byteOffset, 1);
  return [
    {
      name: 'SEND',
      run: eachSize(async (bytes) => {
        await Promise.all([b.receive(there.slice(0, bytes)), a.send(here.slice(0, bytes))]);
      }),
    },
    {
      name: 'SEND with immediate',
      run: eachSize(async (bytes) => {
        const received = b.receive(there.slice(0, bytes));
        await Promise.all([toldBy(received, bytes), a.send(here.slice(0, bytes), { immediateData })]);
      }),
    },
    {
      name: 'SEND, inline',
      run: async () => {
        let compared = 0;
        for (const bytes of inlineSizes) {
          fresh();
          await Promise.all([b.receive(there.slice(0, bytes)), a.send(here.bytes.slice(0, bytes))]);
          compared += compare(here.bytes.subarray(0, bytes), there.bytes.subarray(0, bytes));
        }
        return compared;
      },
    },
    {
      name: 'SEND, gathered from 4 pieces',
      run: async () => {
        fresh();
        const pieces = [
          [3, 1000],
          [5000, 1],
          [10_001, 0],
          [20_000, 4321],
        ] as const;
        const bytes = pieces.reduce((sum, [, length]) => sum + length, 0);
        const gathered = pieces.map(([offset, length]) => here.slice(offset, length));
        await Promise.all([b.receive(there.slice(0, bytes)), a.send(gathered)]);
        const sent = pieces.flatMap(([offset, length]) => [...here.bytes.subarray(offset, offset + length)]);
        return compare(Uint8Array.from(sent), there.bytes.subarray(0, bytes));
      },
    },
    { name: 'RDMA WRITE', run: eachSize((bytes) => a.write(here.slice(0, bytes), there.remote())) },
    {
      name: 'RDMA WRITE with immediate',
      run: eachSize(async (bytes) => {
        const received = b.receive(there.slice(0, 0));
        const written = a.write(here.slice(0, bytes), there.remote(), { immediateData });
        await Promise.all([toldBy(received, bytes), written]);
      }),
    },
    {
      name: 'RDMA READ',
      run: async () => {
        let compared = 0;
        for (const bytes of sizes) {
          seed += 1;
          fill(there, seed);
          here.bytes.fill(0);
          await a.read(here.slice(0, bytes), there.remote());
          compared += compare(there.bytes.subarray(0, bytes), here.bytes.subarray(0, bytes));
        }
        return compared;
      },
    },
    {
      name: 'atomic compare and swap',
      run: async () => {
        value[0] = 5n;
        expectSame(await a.compareAndSwap(counter, 4n, 6n), 5n);
        expectSame(value[0], 5n);
        expectSame(await a.compareAndSwap(counter, 5n, 2n ** 64n - 1n), 5n);
        expectSame(value[0], 2n ** 64n - 1n);
        return 4 * 8;
      },
    },
    {
      name: 'atomic fetch and add',
      run: async () => {
        value[0] = 2n ** 64n - 2n;
        expectSame(await a.fetchAndAdd(counter, 3n), 2n ** 64n - 2n);
        expectSame(value[0], 1n);
        return 2 * 8;
      },
    },
  ];
}

function fill({ bytes }: MemoryRegion, seed: number): void {
  for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 7 + (at >> 8) * 13 + seed) & 0xff;
}

/** @returns number of bytes compared */
function compare(sent: Uint8Array, received: Uint8Array): number {
  if (Buffer.compare(sent, received) === 0) return sent.length;
  const at = sent.findIndex((byte, index) => byte !== received[index]);
  throw new Error(`byte ${at} of ${sent.length} is ${received[at]}; ${sent[at]} was sent`);
}

function expectSame(found: bigint | undefined, expected: bigint): void {
  if (found !== expected) throw new Error(`${found} was found where ${expected} should be`);
}
