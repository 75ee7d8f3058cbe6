import type { SendRequest } from '../driver/command.ts';
import { VerbsError } from '../driver/errors.ts';
import { Opcode, opcodeNames } from '../spec/index.ts';

const atomicBytes = 8;

/** What an operation of a reliable connection asks of its work request. */
interface Operation {
  /** RDMA and atomics name a memory of the peer. */
  readonly remote: boolean;
  /** Its data can be inline: READs and atomics bring data. */
  readonly inline: boolean;
  readonly atomic: boolean;
  readonly immediate: boolean;
}

const send: Operation = { remote: false, inline: true, atomic: false, immediate: false };
const write: Operation = { ...send, remote: true };
const read: Operation = { ...write, inline: false };
const atomic: Operation = { ...read, atomic: true };

const operations: readonly (Operation | undefined)[] = Object.assign([] as (Operation | undefined)[], {
  [Opcode.send]: send,
  [Opcode.sendWithImmediate]: { ...send, immediate: true },
  [Opcode.rdmaWrite]: write,
  [Opcode.rdmaWriteWithImmediate]: { ...write, immediate: true },
  [Opcode.rdmaRead]: read,
  [Opcode.atomicCompareAndSwap]: atomic,
  [Opcode.atomicFetchAndAdd]: atomic,
});

/** Refuses a work request that lacks what its operation needs. @throws VerbsError EINVAL */
export function checkSendWorkRequest(request: SendRequest): void {
  const { opcode, remote, inlineData, gather } = request;
  const operation = operations[opcode];
  if (operation === undefined) {
    throw wrong(opcode, 'opcode', 'is not an operation of a reliable connection', known());
  }
  if (operation.remote && remote === undefined) {
    throw wrong(opcode, 'remote', 'names no memory of the peer', 'a RemoteMemory');
  }
  if (!operation.inline && inlineData !== undefined) {
    throw wrong(opcode, 'inlineData', 'brings data, and has none inline', 'gather: where the data goes');
  }
  if (operation.immediate && request.immediateData === undefined) {
    throw wrong(opcode, 'immediateData', 'has no immediate data', '32 bits');
  }
  if (!operation.atomic) return;
  if (gather?.length !== 1 || gather[0]!.length !== atomicBytes) {
    throw wrong(opcode, 'gather', 'has no place for the former value', `one entry of ${atomicBytes} B`);
  }
  if (request.compareAdd === undefined) {
    throw wrong(opcode, 'compareAdd', 'has no operand', 'a bigint of 64 bits');
  }
  if (opcode === Opcode.atomicCompareAndSwap && request.swap === undefined) {
    throw wrong(opcode, 'swap', 'has no new value', 'a bigint of 64 bits');
  }
}

function known(): string {
  return operations
    .flatMap((operation, opcode) => (operation === undefined ? [] : opcodeNames[opcode]))
    .join(', ');
}

function wrong(opcode: Opcode, attribute: string, what: string, expected: string): VerbsError {
  return new VerbsError(`${opcodeNames[opcode] ?? `opcode ${opcode}`} ${what}. Expected: ${expected}`, {
    code: 'EINVAL',
    verb: 'postSend',
    attribute,
    expected,
  });
}
