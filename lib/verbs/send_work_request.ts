import { bits, invalid, isUint32, unknownKey, wrongRange, wrongType } from '../driver/arguments.ts';
import type { SendRequest } from '../driver/command.ts';
import { checkGatherList } from '../driver/gather_list.ts';
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
const requestKeys: Readonly<Record<keyof SendRequest, true>> = {
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
};

/**
 * Refuses a work request that its service does not have, that lacks a value its operation needs, or that has unknown keys.
 * @throws VerbsError EINVAL, TypeError, RangeError: each names the argument by its path
 */
export function checkSendWorkRequest(service: ServiceType, request: SendRequest): void {
  for (const key in request) if (!isRequestKey(key)) throw unknownKey(new Set(Object.keys(requestKeys)), key);
  const { opcode, remote, inlineData, gather } = request;
  const operation: Operation | undefined = operations[opcode];
  if (operation === undefined || !operation.services.includes(service)) throw wrongOpcode(opcode, service);
  if (operation.remoteRight !== undefined) checkRemote(opcode, remote);
  if (inlineData !== undefined && gather !== undefined) {
    throw invalid('postSend', 'gather', 'left out where inlineData is given', gather);
  }
  if (operation.data === OperationData.returned && inlineData !== undefined) {
    throw wrong(opcode, 'inlineData', 'left out: its data goes to gather', inlineData);
  }
  if (service === ServiceType.unreliableDatagram) checkDatagram(request);
  if (operation.carries === OperationCarries.immediateData) {
    checkUint32(opcode, 'immediateData', '0 to 4294967295', request.immediateData);
  }
  if (operation.carries === OperationCarries.invalidatedKey) {
    checkUint32(opcode, 'invalidateKey', 'the R_Key of a memory window', request.invalidateKey);
  }
  if (operation.ordering === OperationOrdering.local) checkLocal(request);
  if (operation.ordering === OperationOrdering.atomic) checkAtomic(request);
}

/** A switch, as this runs for each key of each request: a set takes three times as long. */
function isRequestKey(key: string): boolean {
  const known = key as keyof SendRequest;
  switch (known) {
    case 'opcode':
    case 'wrId':
    case 'inlineData':
    case 'gather':
    case 'signaled':
    case 'fence':
    case 'solicited':
    case 'checksum':
    case 'immediateData':
    case 'invalidateKey':
    case 'bind':
    case 'remote':
    case 'compareAdd':
    case 'swap':
    case 'addressHandle':
    case 'destinationQueuePair':
    case 'queueKey':
      return true;
    default:
      known satisfies never;
      return false;
  }
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
  checkGatherList('bind.memory', [bind.memory]);
}

/** @throws VerbsError EINVAL: no number; RangeError: not a whole number of 32 bits */
function checkUint32(opcode: Opcode, path: string, expected: string, value: number | undefined): void {
  if (typeof value !== 'number') throw wrong(opcode, path, expected, value);
  if (!isUint32(value)) throw wrongRange(path, bits(32), value);
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
