import type { SendRequest } from '../driver/command.ts';
import { VerbsError } from '../driver/errors.ts';
import { checkGatherList } from '../driver/gather_list.ts';
import {
  Opcode,
  OperationCarries,
  OperationData,
  OperationOrdering,
  ServiceType,
  opcodeNames,
  operations,
  serviceTypeNames,
  type Operation,
} from '../spec/index.ts';

const atomicBytes = 8;

/**
 * Refuses a work request that its service does not have, or that lacks what its operation needs.
 * @throws VerbsError EINVAL; TypeError, RangeError: a value that can be none
 */
export function checkSendWorkRequest(service: ServiceType, request: SendRequest): void {
  const { opcode, remote, inlineData, gather } = request;
  const operation: Operation | undefined = operations[opcode];
  if (operation === undefined || !operation.services.includes(service)) {
    const owner = (serviceTypeNames[service] ?? '').replace('_', ' ');
    throw wrong(opcode, 'opcode', `is not an operation of a queue pair of ${owner}`, known(service));
  }
  if (operation.remoteRight !== undefined) {
    if (remote === undefined) throw wrong(opcode, 'remote', 'names no memory of the peer', 'a RemoteMemory');
    if (typeof remote.key !== 'number' || typeof remote.addressLow !== 'number') {
      throw new TypeError(
        'remote is no memory of the peer: a RemoteMemory, as region.remote() gives it there',
      );
    }
  }
  if (inlineData !== undefined && gather !== undefined) {
    throw wrong(opcode, 'gather', 'has inlineData and gather', 'one of them');
  }
  if (operation.data === OperationData.returned && inlineData !== undefined) {
    throw wrong(opcode, 'inlineData', 'brings data, and has none inline', 'gather: where the data goes');
  }
  if (service === ServiceType.unreliableDatagram) checkDatagram(request);
  if (operation.carries === OperationCarries.immediateData) checkImmediateData(request);
  if (operation.carries === OperationCarries.invalidatedKey) checkInvalidateKey(request);
  if (operation.ordering === OperationOrdering.local) checkLocal(request);
  if (operation.ordering !== OperationOrdering.atomic) return;
  if (gather?.length !== 1 || gather[0]!.length !== atomicBytes) {
    throw wrong(opcode, 'gather', 'has no place for the former value', `one entry of ${atomicBytes} B`);
  }
  if (typeof request.compareAdd !== 'bigint') {
    throw wrong(opcode, 'compareAdd', 'has no operand', 'a bigint of 64 bits');
  }
  if (opcode === Opcode.atomicCompareAndSwap && typeof request.swap !== 'bigint') {
    throw wrong(opcode, 'swap', 'has no new value', 'a bigint of 64 bits');
  }
}

function checkDatagram({ opcode, addressHandle, destinationQueuePair, queueKey }: SendRequest): void {
  if (addressHandle === undefined) {
    throw wrong(opcode, 'addressHandle', 'has no address', 'an AddressHandle');
  }
  if (destinationQueuePair === undefined) {
    throw wrong(opcode, 'destinationQueuePair', 'names no queue pair of the receiver', '24 bits');
  }
  if (queueKey === undefined) {
    throw wrong(opcode, 'queueKey', 'has no Q_Key', "the receiver's, 32 bits");
  }
}

function checkImmediateData({ opcode, immediateData }: SendRequest): void {
  if (typeof immediateData !== 'number') {
    throw wrong(opcode, 'immediateData', 'has no immediate data', 'a number of 32 bits');
  }
  if (immediateData >>> 0 !== immediateData) {
    throw new RangeError(`immediateData is a whole number of 32 bits, 0 to 2^32 - 1, not ${immediateData}`);
  }
}

function checkInvalidateKey({ opcode, invalidateKey }: SendRequest): void {
  if (typeof invalidateKey !== 'number') {
    throw wrong(opcode, 'invalidateKey', 'names no key', 'the R_Key of a memory window');
  }
  if (invalidateKey >>> 0 !== invalidateKey) {
    throw new RangeError(`invalidateKey is a whole number of 32 bits, 0 to 2^32 - 1, not ${invalidateKey}`);
  }
}

function checkLocal({ opcode, inlineData, gather, bind }: SendRequest): void {
  if (inlineData !== undefined || gather !== undefined) {
    throw wrong(opcode, 'gather', 'has data', 'neither gather nor inlineData');
  }
  if (opcode !== Opcode.bindMemoryWindow) return;
  if (bind === undefined) throw wrong(opcode, 'bind', 'names no window', '{ key, memory, access }');
  if (bind.key >>> 0 !== bind.key) {
    throw new RangeError(`bind.key is a whole number of 32 bits, 0 to 2^32 - 1, not ${bind.key}`);
  }
  checkGatherList('bind.memory', [bind.memory]);
}

function known(service: ServiceType): string {
  return Object.values(Opcode)
    .filter((opcode) => operations[opcode].services.includes(service))
    .map((opcode) => opcodeNames[opcode])
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
