import { Opcode } from '../../index.ts';

/** Operations that `hca lat` and `hca bw` measure. */
export const operations = ['send', 'write', 'read', 'atomic'] as const;
export type Operation = (typeof operations)[number];

/** Atomic operations, by the names of perftest. */
export const atomicTypes = ['CMP_AND_SWAP', 'FETCH_AND_ADD'] as const;
export type AtomicType = (typeof atomicTypes)[number];

/** Bytes of an atomic. */
export const atomicBytes = 8;

export function opcodeOf(operation: Operation, atomicType: AtomicType): Opcode {
  if (operation === 'send') return Opcode.send;
  if (operation === 'write') return Opcode.rdmaWrite;
  if (operation === 'read') return Opcode.rdmaRead;
  return atomicType === 'CMP_AND_SWAP' ? Opcode.atomicCompareAndSwap : Opcode.atomicFetchAndAdd;
}
