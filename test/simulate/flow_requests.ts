import { CompletionStatus, Opcode, type SendRequest } from '../../lib/index.ts';
import type { Random } from '../helpers/random.mjs';
import { slotBytes, type FlowMemory } from './flow_memory.ts';

const lengths = [0, 1, 3, 64, 255, 256, 257, 512, 1025, slotBytes];

/** A work request of a flow, and its expected result. */
export interface Operation {
  readonly index: number;
  readonly request: SendRequest;
  readonly length: number;
  /** It takes a receive. */
  readonly isAnnounced: boolean;
  /** It writes to its target. */
  readonly isWritten: boolean;
  /** It increments the word. */
  readonly isAtomic: boolean;
  /** The status with which it must fail; undefined: it must succeed. */
  readonly failure?: CompletionStatus;
  /** Whether the data that it should have read or written are there, once it has succeeded. */
  readonly isDone: () => boolean;
}

export type Service = 'RC' | 'UC';

type Details = Pick<Operation, 'request' | 'isDone'> & Partial<Operation>;

/** A random work request of a service. @param failures some must fail */
export function makeOperation(
  random: Random,
  memory: FlowMemory,
  index: number,
  service: Service,
  failures: boolean,
): Operation {
  const length = random.pick(lengths);
  const make = failures && random.once(12) ? makeFailing : makeGood;
  const made = make(random, memory, index, service, length);
  const fence = service === 'RC' && random.once(5);
  return {
    index,
    length,
    isAnnounced: false,
    isWritten: false,
    isAtomic: false,
    ...made,
    request: { ...made.request, wrId: index, fence: made.request.fence === true || fence },
  };
}

const always = (): boolean => true;
const mostInline = 64;

function makeGood(
  random: Random,
  memory: FlowMemory,
  index: number,
  service: Service,
  length: number,
): Details {
  const gather = memory.sourcePieces(random, index, length);
  const remote = memory.target(index);
  const written = { isWritten: true, isDone: () => memory.hasWritten(index, length) };
  const announced = { immediateData: index, gather };
  switch (random.below(service === 'RC' ? 7 : 3)) {
    case 0:
      return {
        request: { opcode: Opcode.sendWithImmediate, ...announced },
        isAnnounced: true,
        isDone: always,
      };
    case 1:
      return { request: { opcode: Opcode.rdmaWrite, gather, remote }, ...written };
    case 2:
      return {
        request: { opcode: Opcode.rdmaWriteWithImmediate, ...announced, remote },
        isAnnounced: true,
        ...written,
      };
    case 3: {
      const inlineData = memory.inlineData(index, Math.min(length, mostInline));
      return {
        request: { opcode: Opcode.send, inlineData },
        length: inlineData.length,
        isAnnounced: true,
        isDone: always,
      };
    }
    case 4:
      return {
        request: {
          opcode: Opcode.rdmaRead,
          gather: memory.broughtPieces(random, index, length),
          remote: memory.remoteLibrary(),
        },
        isDone: () => memory.hasRead(index, length),
      };
    case 5: {
      const invalidateKey = random.once(2) ? memory.window.takeKey() : undefined;
      // The data of a READ through the window have arrived by then, and are not read again.
      const request: SendRequest =
        invalidateKey === undefined
          ? { opcode: Opcode.send, gather }
          : { opcode: Opcode.sendWithInvalidate, gather, invalidateKey, fence: true };
      return { request, isAnnounced: true, isDone: always };
    }
    default:
      return {
        request: {
          opcode: Opcode.atomicFetchAndAdd,
          compareAdd: 1n,
          gather: [memory.broughtWord(index)],
          remote: memory.remoteWord(),
        },
        isAtomic: true,
        isDone: always,
      };
  }
}

const { localProtectionError, remoteAccessError, remoteInvalidRequestError } = CompletionStatus;

function makeFailing(random: Random, memory: FlowMemory, index: number, service: Service): Details {
  const gather = memory.sourcePieces(random, index, slotBytes);
  const remote = memory.target(index);
  const never = (): boolean => false;
  switch (random.below(service === 'RC' ? 4 : 1)) {
    case 0: {
      const bad = gather.map((piece) => ({ ...piece, localKey: piece.localKey ^ 1 }));
      return {
        request: { opcode: Opcode.rdmaWrite, gather: bad, remote },
        failure: localProtectionError,
        isDone: never,
      };
    }
    case 1: {
      const { addressLow, addressHigh, key } = remote;
      const wrong = memory.formerTarget(index) ?? { addressLow, addressHigh, key: key ^ 1 };
      return {
        request: { opcode: Opcode.rdmaWrite, gather, remote: wrong },
        failure: remoteAccessError,
        isDone: never,
      };
    }
    case 2:
      // Longer than its receive.
      return {
        request: { opcode: Opcode.send, gather: [...gather, ...gather] },
        isAnnounced: true,
        failure: remoteInvalidRequestError,
        isDone: never,
      };
    default: {
      const { addressLow, addressHigh, key } = memory.remoteWord();
      return {
        request: {
          opcode: Opcode.atomicFetchAndAdd,
          compareAdd: 1n,
          gather: [memory.broughtWord(index)],
          remote: { addressLow: addressLow + 4, addressHigh, key },
        },
        failure: remoteInvalidRequestError,
        isDone: never,
      };
    }
  }
}
