// Copies a file from one board to another by RDMA WRITE. The sender writes piece after piece straight into the receiver's memory;
// immediate data wakes the receiver, which puts one piece into its file while the next ones come. An empty message back says that
// the place of a piece is free again. In the end both files are compared.
//
// Run it: node dist/examples/file-copy.js [FROM TO]
import { createHash } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDevice, type MemoryRegion, type RemoteMemory } from 'fpga-verbs';
import { EmulatedFabric } from 'fpga-verbs/board';
import { Connection } from 'fpga-verbs/connect';

const pieceBytes = 64 * 1024;
const places = 4;
const nothing = new Uint8Array();

/** Writes a file to the places of the peer; an empty piece is its end. Gives how many pieces it had. */
async function sendFile(connection: Connection, file: FileHandle, remote: RemoteMemory): Promise<number> {
  const memory = connection.allocate(pieceBytes);
  const free = () => connection.receive(memory.slice(0, 0));
  const freed = Array.from({ length: places }, free);
  for (let piece = 0; ; piece++) {
    if (piece >= places) {
      await freed.shift();
      freed.push(free());
    }
    const { bytesRead } = await file.read(memory.bytes, 0, pieceBytes);
    const place = remote.slice((piece % places) * pieceBytes, bytesRead);
    await connection.write(memory.slice(0, bytesRead), place, { immediateData: piece });
    if (bytesRead === 0) return piece;
  }
}

/** Takes pieces out of its memory as they come. A receive is posted before the sender learns that a place is free. */
async function receiveFile(connection: Connection, file: FileHandle, memory: MemoryRegion): Promise<void> {
  const arrive = () => connection.receive(memory.slice(0, 0));
  const arriving = Array.from({ length: places }, arrive);
  for (let piece = 0; ; piece++) {
    const { byteLength } = await arriving.shift()!;
    if (byteLength === 0) return;
    await file.write(memory.bytes, (piece % places) * pieceBytes, byteLength);
    arriving.push(arrive());
    await connection.send(nothing);
  }
}

const directory = await mkdtemp(path.join(tmpdir(), 'file-copy-'));
const [from = path.join(directory, 'from'), to = path.join(directory, 'to')] = process.argv.slice(2);
if (process.argv.length < 4) await writeFile(from, Buffer.alloc(1_000_000, 'a file to be copied; '));

using fabric = new EmulatedFabric();
const sender = new Connection(openDevice(fabric.makeBoard().open()));
const receiver = new Connection(openDevice(fabric.makeBoard().open()));
sender.connect(receiver.address);
receiver.connect(sender.address);
const memory = receiver.allocate(places * pieceBytes);

const [source, target] = [await open(from), await open(to, 'w')];
const [pieces] = await Promise.all([
  sendFile(sender, source, memory.remote()),
  receiveFile(receiver, target, memory),
]);
await Promise.all([source.close(), target.close()]);

const digest = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
const same = (await digest(from)) === (await digest(to));
console.log(
  `${(await readFile(to)).length} B in ${pieces} RDMA WRITEs: ${same ? 'the same' : 'NOT the same'}`,
);
await rm(directory, { recursive: true });
