import type { SendRequest } from '../driver/command.ts';
import { VerbsError } from '../driver/errors.ts';
import { checkGatherList } from '../driver/gather_list.ts';
import { Opcode, ServiceType, opcodeNames, serviceTypeNames } from '../spec/index.ts';

const atomicBytes = 8;

/** What an operation asks of its work request. */
interface Operation {
  /** The services that have it. */
  readonly services: readonly ServiceType[];
  /** RDMA and atomics name a memory of the peer. */
  readonly remote: boolean;
  /** Its data can be inline: READs and atomics bring data. */
  readonly inline: boolean;
  readonly atomic: boolean;
  readonly immediate: boolean;
  /** It names a key that is taken back. */
  readonly invalidate: boolean;
  /** It works on keys of this side: there is no data. */
  readonly local: boolean;
}

const { reliableConnection, unreliableConnection, unreliableDatagram } = ServiceType;

const send: Operation = {
  services: [reliableConnection, unreliableConnection, unreliableDatagram],
  remote: false,
  inline: true,
  atomic: false,
  immediate: false,
  invalidate: false,
  local: false,
};
const write: Operation = { ...send, services: [reliableConnection, unreliableConnection], remote: true };
const read: Operation = { ...write, services: [reliableConnection], inline: false };
const atomic: Operation = { ...read, atomic: true };
const invalidate: Operation = { ...send, services: [reliableConnection], invalidate: true };

const operations: readonly (Operation | undefined)[] = Object.assign([] as (Operation | undefined)[], {
  [Opcode.send]: send,
  [Opcode.sendWithImmediate]: { ...send, immediate: true },
  [Opcode.sendWithInvalidate]: invalidate,
  [Opcode.localInvalidate]: { ...invalidate, local: true },
  [Opcode.bindMemoryWindow]: { ...write, remote: false, local: true },
  [Opcode.rdmaWrite]: write,
  [Opcode.rdmaWriteWithImmediate]: { ...write, immediate: true },
  [Opcode.rdmaRead]: read,
  [Opcode.atomicCompareAndSwap]: atomic,
  [Opcode.atomicFetchAndAdd]: atomic,
});

/**
 * Refuses a work request that its service does not have, or that lacks what its operation needs.
 * @throws VerbsError EINVAL; TypeError, RangeError: a value that can be none
 */
export function checkSendWorkRequest(service: ServiceType, request: SendRequest): void {
  const { opcode, remote, inlineData, gather } = request;
  const operation = operations[opcode];
  if (operation === undefined || !operation.services.includes(service)) {
    const owner = (serviceTypeNames[service] ?? '').replace('_', ' ');
    throw wrong(opcode, 'opcode', `is not an operation of a queue pair of ${owner}`, known(service));
  }
  if (operation.remote) {
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
  if (!operation.inline && inlineData !== undefined) {
    throw wrong(opcode, 'inlineData', 'brings data, and has none inline', 'gather: where the data goes');
  }
  if (service === unreliableDatagram) checkDatagram(request);
  if (operation.immediate) checkImmediateData(request);
  if (operation.invalidate) checkInvalidateKey(request);
  if (operation.local) checkLocal(request);
  if (!operation.atomic) return;
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
  return operations
    .flatMap((operation, opcode) => (operation?.services.includes(service) ? opcodeNames[opcode] : []))
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
