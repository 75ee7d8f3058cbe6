import type { HcaDriver } from '../driver/hca_driver.ts';
import { ProtectionDomain } from '../driver/protection_domain.ts';
import { QueuePair, type QueuePairOptions } from '../driver/queue_pair.ts';
import type { SendQueueSizes } from '../driver/send_queue.ts';
import { PathMtu, QueuePairState } from '../spec/index.ts';

const rnrTimerOf640Microseconds = 12;
const timeoutOf67Milliseconds = 14;

/** A queue pair that is its own peer, ready to send: what the commands of `hca` post to where no application does. */
export class LoopbackQueuePair {
  readonly queuePair: QueuePair;
  private readonly protectionDomain: ProtectionDomain;

  constructor(driver: HcaDriver, sendQueue: SendQueueSizes, options: Partial<QueuePairOptions> = {}) {
    this.protectionDomain = new ProtectionDomain(driver.management);
    this.queuePair = new QueuePair(driver, {
      ...options,
      protectionDomain: this.protectionDomain,
      sendQueue,
    });
    this.queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: 0 });
    this.queuePair.modify({
      state: QueuePairState.readyToReceive,
      addressVector: { port: 1 },
      pathMtu: PathMtu.mtu1024,
      destinationQueuePair: this.queuePair.number,
      receivePsn: 0,
      maxDestinationReadAtomic: 1,
      minReceiverNotReadyTimer: rnrTimerOf640Microseconds,
    });
    this.queuePair.modify({
      state: QueuePairState.readyToSend,
      timeout: timeoutOf67Milliseconds,
      retryCount: 7,
      receiverNotReadyRetry: 7,
      sendPsn: 0,
      maxReadAtomic: 1,
    });
  }

  close(): void {
    this.queuePair.destroy();
    this.protectionDomain.destroy();
  }
}
