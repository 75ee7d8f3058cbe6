import { types } from 'node:util';
import { markAsUntransferable } from 'node:worker_threads';

import { AccessFlag } from '../spec/index.ts';
import { byteLengthOf, callerMemory } from './caller_memory.ts';
import type { DeviceFunction } from './device_function.ts';
import { allocationError } from './errors.ts';
import type { DmaRange } from './memory_region.ts';

/** Bytes of a page of WebAssembly: its memories are whole pages. */
const webAssemblyPageBytes = 65_536;

/** Marked here, so that it is known why they cannot be transferred. */
const marked = new WeakSet<ArrayBuffer>();

const { isArrayBuffer } = types;
const { structuredClone } = globalThis;

/** Memory of the caller that the device reaches. */
export interface MappedMemory {
  readonly range: DmaRange;
  readonly bytes: Uint8Array;
}

/**
 * Maps memory that is not the library's, so that the device reaches it; held until `device.board.unmap`. It cannot be transferred
 * to another thread from now on: a transferred buffer would hand the device memory of another owner. Memory of a small
 * typed array that still lies on the heap of the runtime leaves it here, for good. Properties of the object are neither asked nor believed.
 * @param accessFlags rights that a region over it will have: without local_write the device cannot write it at all
 * @throws TypeError the memory is resizable, detached, empty, shared, or of a WebAssembly.Memory; VerbsError ENOMEM: no DMA address is left
 */
export function mapForeignMemory(
  device: DeviceFunction,
  memory: ArrayBuffer | ArrayBufferView,
  accessFlags: number,
): MappedMemory {
  const given = callerMemory(memory);
  refuseWebAssembly(given?.buffer);
  const mayWrite = (accessFlags & (1 << AccessFlag.localWrite)) !== 0;
  const address = mapped(device, memory, mayWrite ? 'read_write' : 'read');
  const { buffer, byteOffset, byteLength } = given!;
  try {
    markAsUntransferable(buffer);
    keepInPlace(buffer);
    marked.add(buffer as ArrayBuffer);
    return {
      range: { address, length: byteLength },
      bytes: new Uint8Array(buffer, byteOffset, byteLength),
    };
  } catch (error) {
    device.board.unmap(address);
    throw error;
  }
}

function mapped(
  device: DeviceFunction,
  memory: ArrayBuffer | ArrayBufferView,
  rights: 'read' | 'read_write',
): bigint {
  try {
    return device.board.map(memory, rights);
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
    if (!(move in ArrayBuffer.prototype) || Reflect.defineProperty(buffer, move, { value: refuse })) continue;
    if (
      Object.getOwnPropertyDescriptor(buffer, move)?.writable === false &&
      marked.has(buffer as ArrayBuffer)
    )
      continue; // refused already, since it was registered before
    throw new TypeError(
      `the ArrayBuffer cannot be kept in place: its ${move} cannot be replaced, as that of a frozen one; register it before it is frozen`,
    );
  }
}

/**
 * The memory of a WebAssembly.Memory moves when it grows, even while the device uses it. Nothing tells it by itself; but it cannot be
 * transferred. Whether a buffer could be is learned by a transfer that is refused in any case, as it names the buffer twice.
 */
function refuseWebAssembly(buffer: unknown): void {
  if (!isArrayBuffer(buffer)) return;
  const bytes = byteLengthOf(buffer)!;
  if (bytes === 0 || bytes % webAssemblyPageBytes !== 0 || marked.has(buffer) || isTransferable(buffer))
    return;
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
