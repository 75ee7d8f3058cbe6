import { types } from 'node:util';

/** Bytes of an ArrayBuffer of the caller. */
export interface CallerMemory {
  readonly buffer: ArrayBufferLike;
  /** Offset in the buffer. */
  readonly byteOffset: number;
  readonly byteLength: number;
}

// Saved when the module is loaded, because a caller can replace an object's own properties, its class and its prototype.
const { isArrayBuffer, isArrayBufferView, isDataView, isSharedArrayBuffer } = types;
const { apply } = Reflect;
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const lengths = {
  buffer: getterOf(ArrayBuffer.prototype, 'byteLength'),
  shared: getterOf(SharedArrayBuffer.prototype, 'byteLength'),
};
const viewGetters = { typedArray: gettersOf(typedArray), dataView: gettersOf(DataView.prototype) };

/**
 * Returns the memory behind an object, as the engine knows it. Runs no code of the caller.
 * @returns undefined: neither a buffer nor a view of one
 * @throws TypeError a DataView whose memory is detached
 */
export function callerMemory(memory: unknown): CallerMemory | undefined {
  if (!isArrayBufferView(memory)) {
    const byteLength = byteLengthOf(memory);
    return byteLength === undefined
      ? undefined
      : { buffer: memory as ArrayBufferLike, byteOffset: 0, byteLength };
  }
  const { buffer, byteOffset, byteLength } = isDataView(memory)
    ? viewGetters.dataView
    : viewGetters.typedArray;
  return {
    buffer: apply(buffer, memory, []) as ArrayBufferLike,
    byteOffset: apply(byteOffset, memory, []) as number,
    byteLength: apply(byteLength, memory, []) as number,
  };
}

/** Length of a buffer in bytes; undefined: not a buffer. */
export function byteLengthOf(buffer: unknown): number | undefined {
  if (isArrayBuffer(buffer)) return apply(lengths.buffer, buffer, []) as number;
  return isSharedArrayBuffer(buffer) ? (apply(lengths.shared, buffer, []) as number) : undefined;
}

type Getter = (this: unknown) => unknown;

function gettersOf(prototype: object): Record<keyof CallerMemory, Getter> {
  return {
    buffer: getterOf(prototype, 'buffer'),
    byteOffset: getterOf(prototype, 'byteOffset'),
    byteLength: getterOf(prototype, 'byteLength'),
  };
}

function getterOf(prototype: object, name: string): Getter {
  return Reflect.get(Object.getOwnPropertyDescriptor(prototype, name)!, 'get') as Getter;
}
