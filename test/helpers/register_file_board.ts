import { afterEach } from 'vitest';

import type { BoardFunction, BoardOptions, EmulatedBoard, Transaction } from '../../lib/board/addon.ts';
import { loadTestAddon } from './test_addon.ts';

/** native/test/register_file_device.h: registers of the DMA engine in each function's page. */
export const engine = {
  start: 0x1000,
  address: 0x1008,
  bytes: 0x1010,
  page: 0x1014,
  faults: 0x1018,
  deadline: 0x1020,
  sent: 0x1028,
  received: 0x102c,
  bursts: 0x1030,
} as const;
export const job = { writeHost: 1, readHost: 2, interrupt: 3, sendPacket: 4 } as const;

/** BAR of the register pages, and of the VCB pages, which is prefetchable. */
export const registerBar = 0;
export const vcbBar = 2;
export const pageBytes = 4096;
export const pages = 16;
export const magic = 0x43485646;
export const allOnes = 0xffffffff;

const addon = loadTestAddon() as {
  EmulatedBoard: new (options?: BoardOptions) => EmulatedBoard;
  /** native/test/transaction_ring_port.cpp */
  transactionRingStress(producers: number, messages: number, seed: number): string;
};

export const { transactionRingStress } = addon;

const opened: { close(): void }[] = [];

afterEach(() => {
  for (const object of opened.splice(0).reverse()) object.close();
});

/** An emulated board with a register file as its device, closed when the test ends. */
export function makeBoard(options: BoardOptions = { progress: 'stepped' }): EmulatedBoard {
  const board = new addon.EmulatedBoard(options);
  opened.push(board);
  return board;
}

/** An open function, closed when the test ends. */
export function openFunction(board: EmulatedBoard, underlyingFunction = 0): BoardFunction {
  const opening = board.open(underlyingFunction);
  opened.push(opening);
  return opening;
}

/** Offset of a register of a function's page in its BAR. */
export function registerOffset(underlyingFunction: number, register: number): number {
  return 0x20000 + underlyingFunction * 0x10000 + register;
}

/** Starts a job of the DMA engine of a function with `bytes` of VCB page `page` at a DMA address. */
export function startJob(
  to: BoardFunction,
  underlyingFunction: number,
  kind: number,
  { address = 0n, bytes = 0, page = 0 }: { address?: bigint; bytes?: number; page?: number },
): void {
  const at = (register: number): number => registerOffset(underlyingFunction, register);
  to.write64(registerBar, at(engine.address), Number(address & 0xffffffffn), Number(address >> 32n));
  to.write32(registerBar, at(engine.bytes), bytes);
  to.write32(registerBar, at(engine.page), page);
  to.write32(registerBar, at(engine.start), kind);
}

/** Writes `data` to a VCB page as a command. */
export function writeCommand(to: BoardFunction, offset: number, data: Uint8Array): void {
  const memory = to.allocateMemory(data.length);
  new Uint8Array(memory.buffer).set(data);
  to.commandWriter(memory, vcbBar).write(offset, 0, data.length);
  memory.free();
}

/** The first bytes of a VCB page. */
export function readPage(from: BoardFunction, page: number, bytes: number): Uint8Array {
  const dwords = new Uint32Array(bytes / 4);
  for (let i = 0; i < dwords.length; i++) dwords[i] = from.read32(vcbBar, page * pageBytes + 4 * i);
  return new Uint8Array(dwords.buffer);
}

/** Bytes that are all different from zero and from their neighbors. */
export function pattern(bytes: number, seed = 1): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => 1 + ((i * 7 + seed * 13) % 255));
}

/** The fault of a transaction as a TLP of the link; undefined: it has none. */
export function illegality({ kind, offset, data, byteEnables }: Transaction): string | undefined {
  const { length } = data;
  if (offset % 4 !== 0 || length % 4 !== 0 || length === 0) return 'not of whole DWORDs';
  if (Math.floor(offset / 64) !== Math.floor((offset + length - 1) / 64)) return 'crosses 64 B';
  if (kind === 'read' && length !== 4) return 'a read of other than a DWORD';
  if (byteEnables === 0n || byteEnables >> BigInt(length) !== 0n) return 'enables nothing, or too much';
  const inner = Array.from(
    { length: Math.max(length - 8, 0) },
    (_, i) => (byteEnables >> BigInt(i + 4)) & 1n,
  );
  return inner.includes(0n) ? 'a partial DWORD in its middle' : undefined;
}
