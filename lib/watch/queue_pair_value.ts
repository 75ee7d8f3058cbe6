import type { QueuePairFacts } from '../board/index.ts';
import {
  ServiceType,
  queuePairStateNames,
  sendHoldNames,
  serviceTypeNames,
  type QueuePairState,
  type SendHold,
} from '../spec/index.ts';
import { gidText } from './gid_text.ts';

/** Services of queue pairs, by service_type, as libibverbs abbreviates them. */
export const queuePairTypes: Readonly<Record<number, string>> = {
  [ServiceType.reliableConnection]: 'RC',
  [ServiceType.unreliableConnection]: 'UC',
  [ServiceType.reliableDatagram]: 'RD',
  [ServiceType.unreliableDatagram]: 'UD',
};

const modulo = 0xffff;

/** Commands of a send queue: posted and not executed, and executed and not acknowledged. */
function outstandingOf({ next, posted, acknowledged }: QueuePairFacts): {
  waiting: number;
  unacknowledged: number;
} {
  return { waiting: (posted + 1 - next) & modulo, unacknowledged: (next - acknowledged) & modulo };
}

/** A queue pair as --json prints it. */
export function queuePairValue(facts: QueuePairFacts) {
  const { serviceType, state, hold, destinationGid, destinationLocalIdentifier, ...rest } = facts;
  const isConnected =
    facts.destinationQueuePair !== 0 &&
    (serviceType === ServiceType.reliableConnection || serviceType === ServiceType.unreliableConnection);
  const address = destinationGid.every((byte) => byte === 0)
    ? `LID ${destinationLocalIdentifier}`
    : gidText(destinationGid);
  return {
    ...rest,
    type: queuePairTypes[serviceType] ?? serviceTypeNames[serviceType as ServiceType],
    state: queuePairStateNames[state as QueuePairState],
    hold: sendHoldNames[hold as SendHold],
    ...outstandingOf(facts),
    receives: facts.sharedReceiveQueue === 0 ? (facts.receiveTail - facts.receiveHead) & modulo : undefined,
    peer: isConnected ? { queuePair: facts.destinationQueuePair, address } : undefined,
  };
}
