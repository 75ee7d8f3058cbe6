import { expect, it } from 'vitest';

import { ProtectionDomain } from '../../lib/driver/protection_domain.ts';
import { QueuePair } from '../../lib/driver/queue_pair.ts';
import type { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { PathMtu, QueuePairState, ServiceType, type ManagementOpcode } from '../../lib/spec/index.ts';
import { describeOnBackends, makeBoard, openDriver } from '../helpers/backends.ts';

const sendQueue = { entries: 16, gatherEntries: 4, inlineBytes: 64 };

function make(driver: HcaDriver): { protectionDomain: ProtectionDomain; queuePair: QueuePair } {
  const protectionDomain = new ProtectionDomain(driver.management);
  return { protectionDomain, queuePair: new QueuePair(driver, { protectionDomain, sendQueue }) };
}

describeOnBackends('management commands', (backend) => {
  it('create, modify, query and destroy queue pairs', () => {
    const driver = openDriver(makeBoard(backend));
    const { queuePair, protectionDomain } = make(driver);
    expect(queuePair.query().state).toBe(QueuePairState.reset);
    queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: 5 });
    queuePair.modify({
      state: QueuePairState.readyToReceive,
      addressVector: {
        port: 1,
        serviceLevel: 3,
        isGlobal: true,
        destinationMac: Uint8Array.of(1, 2, 3, 4, 5, 6),
        destinationGid: new Uint8Array(16).fill(9),
      },
      pathMtu: PathMtu.mtu4096,
      destinationQueuePair: 0xab_cdef,
      receivePsn: 0xff_ffff,
      maxDestinationReadAtomic: 16,
      minReceiverNotReadyTimer: 31,
    });
    queuePair.modify({
      state: QueuePairState.readyToSend,
      timeout: 20,
      retryCount: 7,
      receiverNotReadyRetry: 6,
      sendPsn: 0x12_3456,
      maxReadAtomic: 16,
    });
    expect(queuePair.query()).toMatchObject({
      state: QueuePairState.readyToSend,
      accessFlags: 5,
      pathMtu: PathMtu.mtu4096,
      destinationQueuePair: 0xab_cdef,
      receivePsn: 0xff_ffff,
      sendPsn: 0x12_3456,
      timeout: 20,
      retryCount: 7,
      receiverNotReadyRetry: 6,
      maxReadAtomic: 16,
      maxDestinationReadAtomic: 16,
      minReceiverNotReadyTimer: 31,
      next: 0,
      inFlight: 0,
    });
    expect(() => protectionDomain.destroy()).toThrow(expect.objectContaining({ code: 'EBUSY' }));
    queuePair.destroy();
    protectionDomain.destroy();
    expect(() => queuePair.query()).toThrow(
      expect.objectContaining({ code: 'EINVAL', verb: 'queryQueuePair' }),
    );
  });

  it('name a missing, disallowed or wrong attribute', () => {
    const { queuePair } = make(openDriver(makeBoard(backend)));
    expect(() => queuePair.modify({ state: QueuePairState.init, port: 1 })).toThrow(
      expect.objectContaining({
        code: 'EINVAL',
        verb: 'modifyQueuePair',
        attribute: 'accessFlags, partitionKeyIndex',
        message: expect.stringContaining('ManagementStatus.missingAttribute') as string,
      }),
    );
    const init = { state: QueuePairState.init, partitionKeyIndex: 0, port: 1, accessFlags: 0 };
    expect(() => queuePair.modify({ ...init, sendPsn: 3 })).toThrow(
      expect.objectContaining({
        attribute: 'sendPsn',
        message: expect.stringContaining('ManagementStatus.attributeNotAllowed') as string,
      }),
    );
    expect(() => queuePair.modify({ ...init, port: 9 })).toThrow(
      expect.objectContaining({
        attribute: 'port',
        message: expect.stringContaining('ManagementStatus.badParameter (port)') as string,
      }),
    );
    expect(() => queuePair.modify({ state: QueuePairState.readyToSend })).toThrow(
      expect.objectContaining({ message: expect.stringContaining('ManagementStatus.badState') as string }),
    );
    expect(queuePair.query().state).toBe(QueuePairState.reset);
  });

  it('name an exhausted resource, and change nothing', () => {
    const driver = openDriver(makeBoard(backend, { queuePairs: 8 }));
    const protectionDomain = new ProtectionDomain(driver.management);
    const made = Array.from({ length: 6 }, () => new QueuePair(driver, { protectionDomain, sendQueue }));
    expect(() => new QueuePair(driver, { protectionDomain, sendQueue })).toThrow(
      expect.objectContaining({
        code: 'ENOMEM',
        attribute: 'queuePairs',
        expected: 'at most 0',
        message: expect.stringContaining('1 asked for, 0 left') as string,
      }),
    );
    made[3]!.destroy();
    expect(new QueuePair(driver, { protectionDomain, sendQueue }).number).not.toBe(made[3]!.number);
  });

  it('refuse wrong sizes without a command to the device', () => {
    const driver = openDriver(makeBoard(backend));
    const protectionDomain = new ProtectionDomain(driver.management);
    for (const [sizes, attribute] of [
      [{ ...sendQueue, entries: 32769 }, 'maxSendWorkRequests'],
      [{ ...sendQueue, entries: 0 }, 'maxSendWorkRequests'],
      [{ ...sendQueue, gatherEntries: 17 }, 'maxGatherEntries'],
      [{ ...sendQueue, inlineBytes: 257 }, 'maxInlineData'],
    ] as const) {
      expect(() => new QueuePair(driver, { protectionDomain, sendQueue: sizes })).toThrow(
        expect.objectContaining({ code: 'EINVAL', attribute }),
      );
    }
  });

  it('know all services, and refuse unknown commands', () => {
    const driver = openDriver(makeBoard(backend));
    const protectionDomain = new ProtectionDomain(driver.management);
    for (const serviceType of [ServiceType.unreliableConnection, ServiceType.unreliableDatagram]) {
      new QueuePair(driver, { protectionDomain, sendQueue, serviceType }).destroy();
    }
    expect(
      () => new QueuePair(driver, { protectionDomain, sendQueue, serviceType: ServiceType.reliableDatagram }),
    ).toThrow(expect.objectContaining({ attribute: 'serviceType' }));
    expect(() => driver.management.execute({ verb: 'test', opcode: 200 as ManagementOpcode })).toThrow(
      expect.objectContaining({ code: 'EOPNOTSUPP' }),
    );
  });

  it('pass page lists of more than one mailbox page', () => {
    const driver = openDriver(makeBoard(backend));
    const protectionDomain = new ProtectionDomain(driver.management);
    const queuePair = new QueuePair(driver, {
      protectionDomain,
      sendQueue: { entries: 8192, gatherEntries: 16, inlineBytes: 256 },
    });
    expect(queuePair.sendQueue.capacity).toBe(8192);
    expect(queuePair.query().state).toBe(QueuePairState.reset);
  });
});
