import { describe, expect, it, vi } from 'vitest';

import { VerbsError, openDevice } from '../../lib/index.ts';
import { closing } from '../helpers/backends.ts';
import { makeQueuePair, makeVerbs } from '../helpers/make_verbs.ts';

const failing = (code: string, message: RegExp): unknown =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as string });

describe('verbs objects', () => {
  it('cannot be closed while others depend on them', () => {
    const verbs = makeVerbs();
    const { context, protectionDomain, completionQueue } = verbs;
    const region = protectionDomain.allocate(4096);
    const queuePair = makeQueuePair(verbs);
    expect(() => context.close()).toThrow(
      failing('EBUSY', /the device is in use by protection domain 1, completion queue 1/),
    );
    expect(() => protectionDomain.close()).toThrow(
      failing('EBUSY', /memory region 0x[0-9a-f]+, queue pair \d+/),
    );
    expect(() => completionQueue.close()).toThrow(failing('EBUSY', /queue pair/));
    queuePair.close();
    completionQueue.close();
    region.close();
    protectionDomain.close();
    context.close();
    expect(context.closed).toBe(true);
  });

  it('close once, and cannot be used afterwards', () => {
    const verbs = makeVerbs();
    const { context, protectionDomain, completionQueue } = verbs;
    const queuePair = makeQueuePair(verbs);
    const execute = vi.spyOn(context.driver.management, 'execute');
    queuePair.close();
    queuePair.close();
    expect(execute).toHaveBeenCalledTimes(1);
    expect(() => queuePair.query()).toThrow(failing('EBADF', /queue pair \d+ is closed/));
    expect(() => queuePair.modify({})).toThrow(failing('EBADF', /closed/));
    expect(() => queuePair.postSend([])).toThrow(failing('EBADF', /closed/));
    completionQueue.close();
    expect(() => completionQueue.poll([])).toThrow(failing('EBADF', /closed/));
    expect(() => makeQueuePair(verbs)).toThrow(failing('EBADF', /completion queue 1 is closed/));
    protectionDomain.close();
    expect(() => protectionDomain.allocate(1)).toThrow(failing('EBADF', /closed/));
    context.close();
    expect(() => context.createProtectionDomain()).toThrow(failing('EBADF', /closed/));
    expect(() => context.createCompletionQueue()).toThrow(failing('EBADF', /closed/));
    expect(() => context.queryDevice()).toThrow(failing('EBADF', /the device is closed/));
  });

  it('dispose of their dependent objects, newest first', () => {
    const verbs = makeVerbs();
    const { context, protectionDomain } = verbs;
    const region = protectionDomain.allocate(64);
    const queuePair = makeQueuePair(verbs);
    const closed: string[] = [];
    for (const object of [queuePair, region, protectionDomain, verbs.completionQueue]) {
      const close = object.close.bind(object);
      object.close = () => {
        if (!object.closed) closed.push(object.label);
        close();
      };
    }
    context[Symbol.dispose]();
    expect(closed).toEqual(
      [queuePair, verbs.completionQueue, region, protectionDomain].map(({ label }) => label),
    );
    expect(context.closed).toBe(true);
    expect(region.bytes.length).toBe(0);
  });

  it('can be closed when the device is gone', () => {
    const verbs = makeVerbs();
    const queuePair = makeQueuePair(verbs);
    verbs.board.inject({ kind: 'read_all_ones', count: 0 });
    verbs.board.inject({ kind: 'drop', count: 0 });
    queuePair.close();
    verbs.context[Symbol.dispose]();
    expect([queuePair, verbs.protectionDomain, verbs.context].every(({ closed }) => closed)).toBe(true);
  });

  it('of one context cannot be used with those of another', () => {
    const verbs = makeVerbs();
    const other = makeVerbs();
    expect(() =>
      verbs.protectionDomain.createQueuePair({
        type: 'RC',
        sendCompletionQueue: verbs.completionQueue,
        receiveCompletionQueue: other.completionQueue,
      }),
    ).toThrow(failing('EINVAL', /same context/));
  });

  it('have the verbs of libibverbs with their full names, on a device string too', () => {
    using context = closing(openDevice('emu:?progress=stepped'));
    const { limits } = context.queryDevice();
    expect(limits.memoryKeys).toBe(65_535);
    const domain = context.createProtectionDomain();
    expect(() => domain.allocate(8, 0x80)).toThrow(VerbsError);
    domain.close();
  });
});
