// A key-value store whose clients read by RDMA READ: the store's processor has no part in it. Because no client locks an entry while it
// is read, each carries a digest of its content; an entry that was read while the store changed it does not fit its digest, and is
// read again.
//
// Run it: node dist/examples/key-value-store.js
import { createHash } from 'node:crypto';
import { openDevice, type MemoryRegion, type RemoteMemory } from 'fpga-verbs';
import { EmulatedFabric } from 'fpga-verbs/board';
import { Connection } from 'fpga-verbs/connect';

const entries = 64;
const entryBytes = 128; // digest, bytes of the key, bytes of the value, key, value
const digestBytes = 8;

const digest = (content: Uint8Array) =>
  createHash('sha256').update(content).digest().subarray(0, digestBytes);

/** Where the search for a key begins; it goes on from entry to entry until the key or an empty one is found. */
const firstPlace = (key: string) => digest(Buffer.from(key)).readUInt16LE() % entries;

/** Contents of an entry; undefined: it is empty; 'torn': it was read while it was written. */
function contentOf(entry: Buffer): { key: string; value: string } | undefined | 'torn' {
  if (entry.every((byte) => byte === 0)) return undefined;
  const content = entry.subarray(digestBytes);
  if (!digest(content).equals(entry.subarray(0, digestBytes))) return 'torn';
  const [keyBytes, valueBytes] = [content.readUInt8(0), content.readUInt8(1)];
  const text = (begin: number, bytes: number) => content.toString('utf8', begin, begin + bytes);
  return { key: text(2, keyBytes), value: text(2 + keyBytes, valueBytes) };
}

/** The store: it only writes its own memory. */
class Store {
  private readonly bytes: Buffer;

  constructor({ bytes }: MemoryRegion) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  put(key: string, value: string): void {
    this.begin(key, value)();
  }

  /** Writes an entry but for its digest, as far as a slow processor may have come. @returns what ends it */
  begin(key: string, value: string): () => void {
    const entry = this.place(key);
    const content = entry.subarray(digestBytes).fill(0);
    content.set(Buffer.from(`\0\0${key}${value}`));
    content.set([Buffer.byteLength(key), Buffer.byteLength(value)]);
    return () => entry.set(digest(content));
  }

  private place(key: string): Buffer {
    for (let place = firstPlace(key), tried = 0; tried < entries; place = (place + 1) % entries, tried++) {
      const entry = this.bytes.subarray(place * entryBytes, (place + 1) * entryBytes);
      const content = contentOf(entry);
      if (content === undefined || (content !== 'torn' && content.key === key)) return entry;
    }
    throw new Error('the store is full');
  }
}

/** A client: it knows where the store's memory is, and reads it. */
class Client {
  tornReads = 0;
  private readonly connection: Connection;
  private readonly store: RemoteMemory;
  private readonly memory: MemoryRegion;

  constructor(connection: Connection, store: RemoteMemory) {
    this.connection = connection;
    this.store = store;
    this.memory = connection.allocate(entryBytes);
  }

  async get(key: string): Promise<string | undefined> {
    for (let place = firstPlace(key), tried = 0; tried < entries; place = (place + 1) % entries, tried++) {
      const content = await this.readWhole(place);
      if (content === undefined) return undefined;
      if (content.key === key) return content.value;
    }
    return undefined;
  }

  private async readWhole(place: number): Promise<{ key: string; value: string } | undefined> {
    for (;;) {
      await this.connection.read(this.memory.slice(), this.store.slice(place * entryBytes, entryBytes));
      const content = contentOf(Buffer.from(this.memory.bytes));
      if (content !== 'torn') return content;
      this.tornReads += 1;
    }
  }
}

using fabric = new EmulatedFabric();
const [served, reading] = [fabric.makeBoard(), fabric.makeBoard()].map(
  (board) => new Connection(openDevice(board.open())),
) as [Connection, Connection];
served.connect(reading.address);
reading.connect(served.address);

const memory = served.allocate(entries * entryBytes);
const store = new Store(memory);
const client = new Client(reading, memory.remote());

store.put('color', 'blue');
store.put('shape', 'round');
console.log(`color: ${await client.get('color')}, shape: ${await client.get('shape')}`);
console.log(`weight: ${await client.get('weight')}`);

const end = store.begin('color', 'green');
const color = client.get('color');
while (client.tornReads === 0) await new Promise(setImmediate);
end();
console.log(`color: ${await color}, after reads that found it half written`);
