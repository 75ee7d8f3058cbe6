import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';

import { Connection } from '../../lib/connect/index.ts';
import { openDevice, RemoteMemory, type MemoryRegion } from '../../lib/index.ts';
import { requireFile, requireTool } from '../helpers/tools.ts';
import { framesOf } from './cable_capture.ts';
import { guestTests } from './guest.ts';
import { SoftRoceGuest } from './soft_roce_guest.ts';

/** Seconds; a run takes a quarter of a minute on an idle machine. */
const timeLimit = 280;
const memoryBytes = 2 ** 18;
/** Of libibverbs. */
const received = 128;
const receivedWriteWithImmediate = 129;

/** rdma_peer.cpp in the guest. */
class Peer {
  private readonly socket: Socket;
  private readonly lines: AsyncIterator<string>;

  static async start(context: TestContext, { folder, shell }: SoftRoceGuest): Promise<Peer> {
    const program = path.join(folder, 'rdma_peer');
    const source = fileURLToPath(new URL('rdma_peer.cpp', import.meta.url));
    const words = ['-std=c++20', '-Wall', '-Wextra', '-Werror', source, '-o', program, '-libverbs'];
    execFileSync(requireTool('g++', context), words);
    const server = createServer().listen(0);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const run = shell.run(`/host/rdma_peer ${SoftRoceGuest.hostAddress} ${port}`);
    const gone = run.then(({ out, status }) => {
      throw new Error(`the peer has ended with status ${status}: ${out}`);
    });
    const [socket] = (await Promise.race([once(server, 'connection'), gone])) as [Socket];
    gone.catch(() => {}); // the program ends at the end of the test
    return new Peer(socket);
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    this.lines = createInterface(socket)[Symbol.asyncIterator]();
  }

  async hears(): Promise<string> {
    const line = await this.lines.next();
    if (line.done === true) throw new Error('the peer has gone');
    return line.value;
  }

  /** Sends a command to the program, and returns its answer. */
  async tell(...words: readonly (string | number | bigint)[]): Promise<string> {
    this.socket.write(`${words.join(' ')}\n`);
    return this.hears();
  }

  /** Lets the program post a work request, and waits for the completion. */
  async does(...words: readonly (string | number | bigint)[]): Promise<string> {
    expect(await this.tell(...words)).toBe('done');
    return this.tell('wait');
  }

  leave(): void {
    this.socket.end();
  }
}

const pattern = (seed: number, at: number): number => (seed + at * 7 + (at >> 8) * 13) & 0xff;

function fill({ bytes }: MemoryRegion, seed: number): void {
  for (let at = 0; at < bytes.length; at++) bytes[at] = pattern(seed, at);
}

/** The first offset at which memory differs from a pattern; -1: none. */
function differs({ bytes }: MemoryRegion, seed: number, count: number): number {
  return bytes.subarray(0, count).findIndex((byte, at) => byte !== pattern(seed, at));
}

describe('a libibverbs program on Soft-RoCE', guestTests(timeLimit), () => {
  it("and the emulated board access each other's memory", async (context) => {
    requireFile('/usr/include/infiniband/verbs.h', 'libibverbs-dev', context);
    const guest = await SoftRoceGuest.boot(context, timeLimit);
    const peer = await Peer.start(context, guest);
    using device = openDevice(
      `emu:?queuePairs=64&pageTableEntries=8192&memoryKeys=256&link=${encodeURIComponent(guest.link)}`,
    );
    // 1.07 s until a retransmission; the test does not depend on it.
    const connection = new Connection(device, { gidIndex: 1, timeout: 18 });
    const [number, psn, gid, address, key] = (await peer.hears()).split(' ') as [
      ...[string, string, string, string, string],
    ];
    const own = connection.address;
    expect(await peer.tell('hello', own.queuePairNumber, own.packetSequenceNumber, own.gid)).toBe('done');
    connection.connect({ queuePairNumber: Number(number), packetSequenceNumber: Number(psn), gid });
    const theirs = new RemoteMemory({ address: BigInt(address), key: Number(key), length: memoryBytes });
    const memory = connection.allocate(memoryBytes);
    const remote = memory.remote();
    const view = new DataView(memory.bytes.buffer, memory.bytes.byteOffset);
    const place = [(BigInt(remote.addressHigh) << 32n) | BigInt(remote.addressLow), remote.key] as const;

    // The board accesses the peer's memory.
    fill(memory, 1);
    await connection.write(memory.slice(0, 10_000), theirs.slice(3, 10_000));
    expect(await peer.tell('same', 1, 3, 10_000)).toBe('same');
    await peer.tell('receive', 0, 0);
    const immediateData = 0xabcd_0007;
    await connection.write(memory.slice(0, 5000), theirs.slice(20_000, 5000), { immediateData });
    expect(await peer.tell('wait')).toBe(`success, ${receivedWriteWithImmediate}, 5000, ${immediateData}`);
    expect(await peer.tell('same', 1, 20_000, 5000)).toBe('same');
    await peer.tell('fill', 2);
    await connection.read(memory.slice(0, 20_000), theirs.slice(0, 20_000));
    expect(differs(memory, 2, 20_000)).toBe(-1);
    fill(memory, 3);
    await peer.tell('receive', 100, 5000);
    await connection.send(memory.slice(0, 3001), { immediateData: 9 });
    expect(await peer.tell('wait')).toBe(`success, ${received}, 3001, 9`);
    expect(await peer.tell('same', 3, 100, 3001)).toBe('same');
    await connection.write(memory.slice(0, 8), theirs.slice(64, 8));
    const word = view.getBigUint64(0, true);
    expect(await connection.fetchAndAdd(theirs.slice(64, 8), 0xffff_ffffn)).toBe(word);
    expect(await connection.compareAndSwap(theirs.slice(64, 8), word, 1n)).toBe(word + 0xffff_ffffn);
    expect(await connection.compareAndSwap(theirs.slice(64, 8), word + 0xffff_ffffn, 77n)).toBe(
      word + 0xffff_ffffn,
    );
    expect(await connection.fetchAndAdd(theirs.slice(64, 8), 0n)).toBe(77n);

    // The peer accesses the board's memory.
    await peer.tell('fill', 4);
    expect(await peer.does('write', 0, 10_000, ...place, 0)).toMatch(/^success/);
    expect(differs(memory, 4, 10_000)).toBe(-1);
    await peer.tell('fill', 5);
    const told = connection.receive(memory.slice(0, 0));
    expect(await peer.does('write_immediate', 0, 5000, ...place, 0x8000_0001)).toMatch(/^success/);
    expect(await told).toEqual({ byteLength: 5000, immediateData: 0x8000_0001 });
    expect(differs(memory, 5, 5000)).toBe(-1);
    fill(memory, 6);
    expect(await peer.does('read', 0, 20_000, ...place, 0)).toMatch(/^success/);
    expect(await peer.tell('same', 6, 0, 20_000)).toBe('same');
    await peer.tell('fill', 7);
    const taken = connection.receive(memory.slice(0, 5000));
    expect(await peer.does('send_immediate', 0, 3001, 0, 0, 11)).toMatch(/^success/);
    expect(await taken).toEqual({ byteLength: 3001, immediateData: 11 });
    expect(differs(memory, 7, 3001)).toBe(-1);
    const before = view.getBigUint64(0, true);
    expect(await peer.does('add', 0, ...place, 0xffff_ffffn, 0)).toMatch(/^success/);
    expect(view.getBigUint64(0, true)).toBe(BigInt.asUintN(64, before + 0xffff_ffffn));
    expect(await peer.does('swap', 0, ...place, before, 1)).toMatch(/^success/);
    expect(view.getBigUint64(0, true)).toBe(BigInt.asUintN(64, before + 0xffff_ffffn));
    expect(await peer.does('swap', 0, ...place, view.getBigUint64(0, true), 88)).toMatch(/^success/);
    expect(view.getBigUint64(0, true)).toBe(88n);

    // The peer cannot access memory without the right.
    const stranger = (place[1] ^ 0x100) >>> 0;
    expect(await peer.does('read', 0, 8, place[0], stranger, 0)).toMatch(/^remote access error/);
    connection.close();
    peer.leave();
    expect(framesOf(await guest.end('rdma_peer.pcap')).length).toBeGreaterThan(50);
  });
});
