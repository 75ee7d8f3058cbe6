import { describe, expect, it } from 'vitest';

import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import { KickRecord, openDevice, type Context, type Kick } from '../../lib/index.ts';
import { KickJoiner } from '../../lib/driver/kicks.ts';
import { KickOrigin, KickRecordType, Opcode } from '../../lib/spec/index.ts';
import { closing, describeOnBackends, makeBoard, type Backend } from '../helpers/backends.ts';

function open(backend: Backend): { device: Context; post: (length: number) => void } {
  const device = closing(openDevice(makeBoard(backend).open(0)));
  const { queuePair } = new UnansweredQueuePair(device.driver, {
    entries: 64,
    gatherEntries: 0,
    inlineBytes: 256,
  });
  return {
    device,
    post: (length) => {
      queuePair.post({ opcode: Opcode.send, inlineData: new Uint8Array(length) });
    },
  };
}

async function take(kicks: AsyncGenerator<Kick, void>, count: number): Promise<Kick[]> {
  const taken: Kick[] = [];
  while (taken.length < count) {
    const next = await kicks.next();
    if (next.done === true) break;
    taken.push(next.value);
  }
  return taken;
}

describeOnBackends('device.kicks()', (backend) => {
  it('returns every kick with its times, matched with its sent record', async () => {
    const { device, post } = open(backend);
    const kicks = device.kicks({ timeout: 10_000 });
    const first = kicks.next();
    for (const length of [0, 100, 256]) post(length);
    const all = [(await first).value as Kick, ...(await take(kicks, 2))];
    await kicks.return();
    expect(all.map(({ length }) => length)).toEqual([0, 100, 256]);
    expect(all.map(({ sendQueueSequenceNumber }) => sendQueueSequenceNumber)).toEqual([0, 1, 2]);
    for (const { firstWrite, kicked, sent, origin } of all) {
      expect(origin).toBe(KickOrigin.collected);
      expect(sent).toMatchObject({ status: 0 });
      expect([firstWrite, kicked, sent!.begin, sent!.end]).toEqual(
        [firstWrite, kicked, sent!.begin, sent!.end].sort((one, other) => one - other),
      );
    }
  });

  it('observes from the first call to the last', async () => {
    const { device, post } = open(backend);
    post(1);
    const kicks = device.kicks({ timeout: 10_000 });
    const first = kicks.next();
    post(2);
    expect(((await first).value as Kick).length).toBe(2);
    await kicks.return();
    post(3);
    expect(device.pollKicks([new KickRecord()])).toBe(0);
  });

  it('has one observer at a time', async () => {
    const { device } = open(backend);
    device.observeKicks();
    await expect(device.kicks().next()).rejects.toMatchObject({ code: 'EBUSY' });
    device.ignoreKicks();
    await expect(device.kicks({ timeout: 0 }).next()).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('ends by its signal without losing records', async () => {
    const { device, post } = open(backend);
    const controller = new AbortController();
    const pending = device.kicks({ signal: controller.signal }).next();
    controller.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
    const kicks = device.kicks({ timeout: 10_000 });
    const next = kicks.next();
    post(4);
    expect(((await next).value as Kick).length).toBe(4);
    await kicks.return();
  });

  it('is refused on a closed device', async () => {
    const { device } = open(backend);
    device.close();
    device.close();
    expect(device.closed).toBe(true);
    await expect(device.kicks().next()).rejects.toMatchObject({ code: 'EBADF' });
    expect(() => device.queryDevice()).toThrow('the device is closed');
  });
});

describe('records are matched', () => {
  const record = (fields: Partial<KickRecord>): KickRecord => Object.assign(new KickRecord(), fields);
  const kicked = (kickNumber: number, sendQueueSequenceNumber: number): KickRecord =>
    record({ type: KickRecordType.kicked, kickNumber, sendQueueSequenceNumber });
  const sent = (kickNumber: number, sendQueueSequenceNumber: number): KickRecord =>
    record({ type: KickRecordType.sent, kickNumber, sendQueueSequenceNumber });

  it('a command kicked again was returned the first time', () => {
    const joiner = new KickJoiner();
    expect(joiner.take(kicked(1, 7))).toEqual([]);
    expect(joiner.take(kicked(2, 7))).toMatchObject([{ kickNumber: 1, sent: undefined }]);
    expect(joiner.take(sent(2, 7))).toMatchObject([{ kickNumber: 2, sent: { status: 0 } }]);
  });

  it('a sent record without its kick record gives no kick', () => {
    const joiner = new KickJoiner();
    expect(joiner.take(sent(1, 1))).toEqual([]);
    joiner.take(kicked(2, 2));
    expect(joiner.take(sent(3, 2))).toMatchObject([{ kickNumber: 2, sent: undefined }]);
  });

  it('the oldest is returned when too many wait', () => {
    const joiner = new KickJoiner(2);
    joiner.take(kicked(1, 1));
    joiner.take(kicked(2, 2));
    expect(joiner.take(kicked(3, 3))).toMatchObject([{ kickNumber: 1 }]);
  });
});
