import { addressOf, connectQueuePair } from '../connect/index.ts';
import type { CompletionQueue, Context, MemoryRegion, ProtectionDomain, QueuePair } from '../index.ts';
import { Access } from '../index.ts';

/** Sizes of its queues. */
export interface LoopedQueuePairSizes {
  /** Capacity of the send queue and of the completion queue. */
  readonly entries: number;
  /** Maximum inline data, which is also the size of the memory, bytes. */
  readonly inlineBytes: number;
}

/**
 * A queue pair of the reliable connection service, connected to itself through the loopback of port 1 and ready to send, and memory
 * that it may write. A command posts to it when posts must be acknowledged and there is no peer.
 */
export class LoopedQueuePair {
  readonly queuePair: QueuePair;
  readonly completionQueue: CompletionQueue;
  readonly memory: MemoryRegion;
  private readonly protectionDomain: ProtectionDomain;

  constructor(context: Context, { entries, inlineBytes }: LoopedQueuePairSizes) {
    this.protectionDomain = context.createProtectionDomain();
    this.completionQueue = context.createCompletionQueue({ entries });
    this.queuePair = this.protectionDomain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: this.completionQueue,
      receiveCompletionQueue: this.completionQueue,
      capabilities: {
        maxSendWorkRequests: entries,
        maxReceiveWorkRequests: 1,
        maxInlineData: inlineBytes,
        maxGatherEntries: 0,
      },
    });
    this.memory = this.protectionDomain.allocate(inlineBytes, Access.localWrite | Access.remoteWrite);
    const address = addressOf(context, this.queuePair);
    connectQueuePair(this.queuePair, address, address);
  }

  close(): void {
    this.protectionDomain[Symbol.dispose]();
    this.completionQueue[Symbol.dispose]();
  }
}
