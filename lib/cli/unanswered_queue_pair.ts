import type { HcaDriver } from '../driver/hca_driver.ts';
import { ProtectionDomain } from '../driver/protection_domain.ts';
import { QueuePair, type QueuePairOptions } from '../driver/queue_pair.ts';
import type { SendQueueSizes } from '../driver/send_queue.ts';
import { PathMtu, QueuePairState, ServiceType } from '../spec/index.ts';

/**
 * A queue pair of the unreliable connection service whose peer does not exist, ready to send. Commands of `hca` post to
 * it if no application posts. Its work requests complete when their last packet has left.
 */
export class UnansweredQueuePair {
  readonly queuePair: QueuePair;
  private readonly protectionDomain: ProtectionDomain;

  constructor(driver: HcaDriver, sendQueue: SendQueueSizes, options: Partial<QueuePairOptions> = {}) {
    this.protectionDomain = new ProtectionDomain(driver.management);
    this.queuePair = new QueuePair(driver, {
      ...options,
      protectionDomain: this.protectionDomain,
      serviceType: ServiceType.unreliableConnection,
      sendQueue,
    });
    this.queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: 0 });
    this.queuePair.modify({
      state: QueuePairState.readyToReceive,
      addressVector: { port: 1, isGlobal: true },
      pathMtu: PathMtu.mtu1024,
      destinationQueuePair: this.queuePair.number,
      receivePsn: 0,
    });
    this.queuePair.modify({ state: QueuePairState.readyToSend, sendPsn: 0 });
  }

  close(): void {
    this.queuePair.destroy();
    this.protectionDomain.destroy();
  }
}
