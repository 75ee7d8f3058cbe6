import { markAsUntransferable } from 'node:worker_threads';

import { AccessFlag } from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { allocationError } from './errors.ts';
import type { DmaRange } from './memory_region.ts';

/** Bytes of a page of WebAssembly: its memories are whole pages. */
const webAssemblyPageBytes = 65_536;

/** Marked here, so that it is known why they cannot be transferred. */
const marked = new WeakSet<ArrayBuffer>();

/**
 * Maps memory that is not the library's, so that the device reaches it; held until `device.board.unmap`. It cannot be transferred
 * to another thread from now on: a transferred buffer would hand the device memory that belongs to somebody else. Memory of a small
 * typed array that still lies on the heap of the runtime leaves it here, for good.
 * @param accessFlags rights that a region over it will have: without local_write the device cannot write it at all
 * @throws TypeError the memory is resizable, detached, empty, shared, or of a WebAssembly.Memory; VerbsError ENOMEM: no DMA address is left
 */
export function mapForeignMemory(
  device: DeviceFunction,
  memory: ArrayBuffer | ArrayBufferView,
  accessFlags: number,
): DmaRange {
  const buffer = ArrayBuffer.isView(memory) ? memory.buffer : memory;
  refuseWebAssembly(buffer);
  const mayWrite = (accessFlags & (1 << AccessFlag.localWrite)) !== 0;
  try {
    const address = device.board.map(memory, mayWrite ? 'read_write' : 'read');
    markAsUntransferable(buffer);
    keepInPlace(buffer);
    marked.add(buffer as ArrayBuffer);
    return { address, length: memory.byteLength };
  } catch (error) {
    throw allocationError('registerMemory', error);
  }
}

/** ArrayBuffer.prototype.transfer of ECMAScript 2024 does not ask whether a buffer may be transferred. */
function keepInPlace(buffer: ArrayBufferLike): void {
  const refuse = (): never => {
    throw new TypeError(
      'the memory of this ArrayBuffer was registered, and cannot be moved; use slice(), which copies',
    );
  };
  for (const move of ['transfer', 'transferToFixedLength']) {
    if (move in buffer) Object.defineProperty(buffer, move, { value: refuse });
  }
}

/**
 * The memory of a WebAssembly.Memory moves when it grows, whoever uses it then. Nothing tells it by itself; but it cannot be
 * transferred. Whether a buffer could be is learned by a transfer that is refused in any case, as it names the buffer twice.
 */
function refuseWebAssembly(buffer: unknown): void {
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength % webAssemblyPageBytes !== 0) return;
  if (buffer.byteLength === 0 || marked.has(buffer) || isTransferable(buffer)) return;
  throw new TypeError(
    'the ArrayBuffer cannot be transferred, as that of a WebAssembly.Memory, which moves when it grows; use allocate(), and copy',
  );
}

function isTransferable(buffer: ArrayBuffer): boolean {
  try {
    structuredClone(undefined, { transfer: [buffer, buffer] });
    return false; // it was passed over
  } catch (error) {
    return /duplicate/i.test((error as Error).message);
  }
}
