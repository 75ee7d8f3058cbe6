import type { BoardOptions, EmulatedBoard } from '../../lib/board/addon.ts';
import {
  QueuePairState,
  openDevice,
  type CompletionQueue,
  type Context,
  type ProtectionDomain,
  type QueuePair,
  type QueuePairCapabilities,
  type QueuePairType,
  type SharedReceiveQueue,
} from '../../lib/index.ts';
import { backends, makeBoard, type Backend } from './backends.ts';

export const stepped = backends.find(({ options }) => options.progress === 'stepped')!;

/** An open device, with the objects that most tests need. The board closes all when the test ends. */
export interface Verbs {
  readonly board: EmulatedBoard;
  readonly context: Context;
  readonly protectionDomain: ProtectionDomain;
  readonly completionQueue: CompletionQueue;
}

export function makeVerbs(backend: Backend = stepped, options: BoardOptions = {}): Verbs {
  const board = makeBoard(backend, options);
  const context = openDevice(board.open(0));
  return {
    board,
    context,
    protectionDomain: context.createProtectionDomain(),
    completionQueue: context.createCompletionQueue({ entries: 64 }),
  };
}

/** A queue pair whose queues share the completion queue. */
export function makeQueuePair(
  { protectionDomain, completionQueue }: Verbs,
  capabilities?: QueuePairCapabilities,
  type: QueuePairType = 'RC',
  sharedReceiveQueue?: SharedReceiveQueue,
): QueuePair {
  return protectionDomain.createQueuePair({
    type,
    sendCompletionQueue: completionQueue,
    receiveCompletionQueue: completionQueue,
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(sharedReceiveQueue === undefined ? {} : { sharedReceiveQueue }),
  });
}

/** A queue pair in ERR, in which every work request completes as flushed. */
export function makeFailedQueuePair(verbs: Verbs): QueuePair {
  const queuePair = makeQueuePair(verbs);
  queuePair.modify({ state: QueuePairState.error });
  return queuePair;
}
