// QEMU's `edu` device (docs/specs/edu in QEMU), a PCI function of another project: its identification and its DMA engine.

/** The PCI IDs under which it is accepted in place of an HCA. */
export const accepted = [{ name: 'edu', vendor: 0x1234, device: 0x11e8 }];
export const address = '0000:00:10.0';
export const identification = 0x010000ed;

export const register = {
  identification: 0,
  liveness: 4,
  interruptStatus: 0x24,
  raise: 0x60,
  acknowledge: 0x64,
};
const [source, destination, count, command] = [0x80, 0x88, 0x90, 0x98];
/** Address of the 4 KiB buffer in the address space of its DMA engine. */
const buffer = 0x40000;

/** Copies `bytes` (up to 4088: this device aborts the emulator on a whole buffer) from a DMA address to its buffer. */
export async function fetch(board, from, bytes) {
  board.write64(0, source, from, 0);
  board.write64(0, destination, buffer, 0);
  await run(board, bytes, 1);
}

/** Copies its buffer to a DMA address. @param interrupt it raises an interrupt at the end */
export async function deliver(board, to, bytes, interrupt = false) {
  board.write64(0, source, buffer, 0);
  board.write64(0, destination, to, 0);
  await run(board, bytes, interrupt ? 7 : 3);
}

async function run(board, bytes, order) {
  board.write64(0, count, bytes, 0);
  board.write64(0, command, order, 0);
  while ((board.read32(0, command) & 1) !== 0) await new Promise((done) => setTimeout(done, 10));
}

/** A byte sequence that begins with `seed`. */
export function pattern(bytes, seed) {
  return Uint8Array.from({ length: bytes }, (_, index) => (seed + index * 13) & 0xff);
}

export const sameBytes = (one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)) === 0;

/** The message of the error thrown by a call. */
export function messageOf(call) {
  try {
    call();
    return 'nothing';
  } catch (error) {
    return error.message;
  }
}
