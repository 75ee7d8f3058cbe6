import type { End } from './end.ts';
import { atomicBytes, type AtomicType, type Operation } from './operation.ts';

/** A measurement in one run. */
export interface Run {
  readonly operation: Operation;
  readonly atomicType: AtomicType;
  /** Bytes of a message. */
  readonly bytes: number;
}

/** Source and destination memory of an operation. */
function placesOf(operation: Operation): {
  readonly from: 'local' | 'exposed';
  readonly to: 'local' | 'exposed';
} {
  return operation === 'read' ? { from: 'exposed', to: 'local' } : { from: 'local', to: 'exposed' };
}

/** Fills the source with a pattern, and the destination with its complement. */
export function fillMemory(end: End, { operation, bytes }: Run): void {
  const { from, to } = placesOf(operation);
  for (let index = 0; index < end.queuePairs.length; index++) {
    const [source, target] = [end.area(from, index), end.area(to, index)];
    for (let at = 0; at < bytes; at++) source[at] = patternAt(at);
    for (let at = 0; at < bytes; at++) target[at] = patternAt(at) ^ 0xff;
    if (operation === 'atomic') target.fill(0, 0, atomicBytes);
  }
}

/**
 * Compares the data that an end received.
 * @param skipped bytes at the end of a message that are not compared
 * @throws Error with the byte that is wrong
 */
export function checkData(end: End, { operation, bytes }: Run, skipped = 0): void {
  const { to } = placesOf(operation);
  for (let index = 0; index < end.queuePairs.length; index++) {
    const found = end.area(to, index).subarray(0, bytes - skipped);
    const wrong = found.findIndex((byte, at) => byte !== patternAt(at));
    if (wrong < 0) continue;
    throw new Error(
      `invalid data: byte ${wrong} of ${bytes} of queue pair ${index} is ${found[wrong]}, not ${patternAt(wrong)}`,
    );
  }
}

/**
 * Compares the results of atomics.
 * @param messages number for each queue pair @throws Error with the value that is wrong
 */
export function checkAtomics(end: End, { atomicType }: Run, messages: readonly number[]): void {
  for (let index = 0; index < end.queuePairs.length; index++) {
    const { buffer, byteOffset } = end.area('exposed', index);
    const found = new DataView(buffer, byteOffset, atomicBytes).getBigUint64(0, true);
    const expected = atomicType === 'FETCH_AND_ADD' ? BigInt(messages[index]!) : 1n;
    if (found === expected) continue;
    throw new Error(`invalid data: the atomics of queue pair ${index} left ${found}, not ${expected}`);
  }
}

function patternAt(at: number): number {
  return (at * 7 + (at >> 8) * 13 + 1) & 0xff;
}
