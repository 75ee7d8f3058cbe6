import { bits, checkKeys, invalid, isUint32, wrongRange, wrongType } from '../driver/arguments.ts';
import type { SendRequest } from '../driver/command.ts';
import { enumText } from '../spec/enum_names.ts';
import {
  Opcode,
  OperationCarries,
  OperationData,
  OperationOrdering,
  ServiceType,
  opcodeNames,
  operations,
  type Operation,
} from '../spec/index.ts';

const atomicBytes = 8;
const queuePairNumberBits = 24;
const shortNames: Readonly<Record<ServiceType, string>> = {
  [ServiceType.reliableConnection]: 'RC',
  [ServiceType.unreliableConnection]: 'UC',
  [ServiceType.reliableDatagram]: 'RD',
  [ServiceType.unreliableDatagram]: 'UD',
};
const requestKeys: ReadonlySet<string> = new Set(
  Object.keys({
    opcode: true,
    wrId: true,
    inlineData: true,
    gather: true,
    signaled: true,
    fence: true,
    solicited: true,
    checksum: true,
    immediateData: true,
    invalidateKey: true,
    bind: true,
    remote: true,
    compareAdd: true,
    swap: true,
    addressHandle: true,
    destinationQueuePair: true,
    queueKey: true,
  } satisfies Record<keyof SendRequest, true>),
);

/** The fields that an operation needs, by service and opcode: bits of {@link need}; 0: the service does not have the operation. */
const need = {
  nothing: 1,
  remote: 2,
  datagram: 4,
  immediateData: 8,
  invalidateKey: 16,
  noData: 32,
  operands: 64,
  noInlineData: 128,
} as const;
const needs: readonly Uint8Array[] = Object.values(ServiceType).map((service) =>
  Uint8Array.from({ length: 1 + Math.max(...Object.values(Opcode)) }, (_, opcode) =>
    needsOf(service, operations[opcode as Opcode]),
  ),
);

function needsOf(service: ServiceType, operation: Operation | undefined): number {
  if (operation === undefined || !operation.services.includes(service)) return 0;
  const { remoteRight, data, carries, ordering } = operation;
  return (
    need.nothing |
    (remoteRight === undefined ? 0 : need.remote) |
    (data === OperationData.returned ? need.noInlineData : 0) |
    (service === ServiceType.unreliableDatagram ? need.datagram : 0) |
    (carries === OperationCarries.immediateData ? need.immediateData : 0) |
    (carries === OperationCarries.invalidatedKey ? need.invalidateKey : 0) |
    (ordering === OperationOrdering.local ? need.noData : 0) |
    (ordering === OperationOrdering.atomic ? need.operands : 0)
  );
}

/** Counts the known keys that have a value. V8 knows which keys a request of a known shape lacks, so that those cost nothing. */
const keysWithValue = (request: SendRequest): number =>
  (request.opcode === undefined ? 0 : 1) +
  (request.wrId === undefined ? 0 : 1) +
  (request.inlineData === undefined ? 0 : 1) +
  (request.gather === undefined ? 0 : 1) +
  (request.signaled === undefined ? 0 : 1) +
  (request.fence === undefined ? 0 : 1) +
  (request.solicited === undefined ? 0 : 1) +
  (request.checksum === undefined ? 0 : 1) +
  (request.immediateData === undefined ? 0 : 1) +
  (request.invalidateKey === undefined ? 0 : 1) +
  (request.bind === undefined ? 0 : 1) +
  (request.remote === undefined ? 0 : 1) +
  (request.compareAdd === undefined ? 0 : 1) +
  (request.swap === undefined ? 0 : 1) +
  (request.addressHandle === undefined ? 0 : 1) +
  (request.destinationQueuePair === undefined ? 0 : 1) +
  (request.queueKey === undefined ? 0 : 1);

/**
 * Checks a work request: its service must have the operation, and it must have all fields that the operation needs and no unknown keys.
 * @throws VerbsError EINVAL, TypeError, RangeError: each names the argument by its path
 */
export function checkSendWorkRequest(service: ServiceType, request: SendRequest): void {
  let keys = keysWithValue(request);
  for (const _ in request) keys--;
  if (keys !== 0) checkKeys(requestKeys, request);
  if (request.inlineData !== undefined && request.gather !== undefined) throw twoSources(request.gather);
  const needed = needs[service]![request.opcode] ?? 0;
  if (needed !== need.nothing) checkNeeds(needed, service, request);
}

function checkNeeds(needed: number, service: ServiceType, request: SendRequest): void {
  const { opcode, remote, inlineData } = request;
  if (needed === 0) throw wrongOpcode(opcode, service);
  if ((needed & need.remote) !== 0) checkRemote(opcode, remote);
  if ((needed & need.noInlineData) !== 0 && inlineData !== undefined) {
    throw wrong(opcode, 'inlineData', 'left out: its data goes to gather', inlineData);
  }
  if ((needed & need.datagram) !== 0) checkDatagram(request);
  if ((needed & need.immediateData) !== 0) {
    checkUint32(opcode, 'immediateData', '0 to 4294967295', request.immediateData);
  }
  if ((needed & need.invalidateKey) !== 0) {
    checkUint32(opcode, 'invalidateKey', 'the R_Key of a memory window', request.invalidateKey);
  }
  if ((needed & need.noData) !== 0) checkLocal(request);
  if ((needed & need.operands) !== 0) checkAtomic(request);
}

function checkRemote(opcode: Opcode, remote: SendRequest['remote']): void {
  const expected = 'a RemoteMemory, as region.remote() of the peer gives it';
  if (remote === undefined) throw wrong(opcode, 'remote', expected, remote);
  if (typeof remote.key !== 'number' || typeof remote.addressLow !== 'number') {
    throw wrongType('remote', expected, remote);
  }
}

function checkAtomic({ opcode, gather, compareAdd, swap }: SendRequest): void {
  if (gather?.length !== 1) {
    throw wrong(opcode, 'gather', `one slice of ${atomicBytes} B for the former value`, gather);
  }
  if (gather[0]!.length !== atomicBytes) {
    throw wrong(opcode, 'gather[0].length', `${atomicBytes} B`, gather[0]!.length);
  }
  if (typeof compareAdd !== 'bigint') throw wrong(opcode, 'compareAdd', 'a bigint of 64 bits', compareAdd);
  if (opcode === Opcode.atomicCompareAndSwap && typeof swap !== 'bigint') {
    throw wrong(opcode, 'swap', 'a bigint of 64 bits', swap);
  }
}

function checkDatagram({ opcode, addressHandle, destinationQueuePair, queueKey }: SendRequest): void {
  if (typeof addressHandle?.number !== 'number') {
    throw wrong(opcode, 'addressHandle', 'an AddressHandle', addressHandle);
  }
  if (destinationQueuePair === undefined || destinationQueuePair >>> queuePairNumberBits !== 0) {
    throw wrong(
      opcode,
      'destinationQueuePair',
      `a queue pair number, ${bits(queuePairNumberBits)}`,
      destinationQueuePair,
    );
  }
  checkUint32(opcode, 'queueKey', "the receiver's Q_Key, 0 to 4294967295", queueKey);
}

function checkLocal({ opcode, inlineData, gather, bind }: SendRequest): void {
  if (inlineData !== undefined || gather !== undefined) {
    const path = gather === undefined ? 'inlineData' : 'gather';
    throw wrong(opcode, path, 'left out: the operation has no data', gather ?? inlineData);
  }
  if (opcode !== Opcode.bindMemoryWindow) return;
  if (bind === undefined) throw wrong(opcode, 'bind', '{ key, memory, access }', bind);
  checkUint32(opcode, 'bind.key', 'an R_Key, 0 to 4294967295', bind.key);
}

/** @throws VerbsError EINVAL: not a number; RangeError: not a 32-bit integer */
function checkUint32(opcode: Opcode, path: string, expected: string, value: number | undefined): void {
  if (typeof value !== 'number') throw wrong(opcode, path, expected, value);
  if (!isUint32(value)) throw wrongRange(path, bits(32), value);
}

function twoSources(gather: SendRequest['gather']): Error {
  return invalid('postSend', 'gather', 'left out where inlineData is given', gather);
}

function wrongOpcode(opcode: Opcode, service: ServiceType): Error {
  const known = Object.values(Opcode)
    .filter((each) => operations[each].services.includes(service))
    .map((each) => enumText('Opcode', opcodeNames, each))
    .join(', ');
  const got = opcodeNames[opcode] === undefined ? undefined : enumText('Opcode', opcodeNames, opcode);
  const expected = `one of ${known} on a queue pair of type ${shortNames[service]}`;
  return invalid('postSend', 'opcode', expected, opcode, got);
}

function wrong(opcode: Opcode, path: string, expected: string, value: unknown): Error {
  return invalid('postSend', path, `${expected} with ${enumText('Opcode', opcodeNames, opcode)}`, value);
}
