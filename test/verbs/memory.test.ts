import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';

import { Access, Completion, CompletionStatus, Opcode, RemoteMemory } from '../../lib/index.ts';
import { describeInProcess, settle } from '../helpers/backends.ts';
import { everyRight, makePair } from '../helpers/connected.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

describeInProcess('memory regions', (backend) => {
  it('can cover memory of the library', () => {
    const { protectionDomain } = makeVerbs(backend);
    const region = protectionDomain.allocate(10_000, Access.localWrite | Access.remoteRead);
    expect(region.length).toBe(10_000);
    expect(region.bytes).toEqual(new Uint8Array(10_000));
    region.bytes.fill(7);
    region.close();
    expect(region.bytes.length).toBe(0);
  });

  it('can cover memory of the caller, which stays usable and on its thread', () => {
    const { context, protectionDomain } = makeVerbs(backend);
    const view = new Uint8Array(new ArrayBuffer(5000), 100, 3000).fill(9);
    const region = protectionDomain.registerMemory(view);
    expect(region.length).toBe(3000);
    expect(region.bytes.buffer).toBe(view.buffer);
    expect(region.bytes.byteOffset).toBe(100);
    const { port1, port2 } = new MessageChannel();
    try {
      port1.postMessage(view.buffer, [view.buffer]);
    } catch (error) {
      expect((error as Error).name).toBe('DataCloneError');
    }
    port1.close();
    port2.close();
    expect(view[0]).toBe(9);
    const { board } = context.driver.device;
    region.close();
    expect(view[0]).toBe(9);
    expect(() => board.unmap(region.address)).toThrow(/nothing is mapped/);
    const whole = protectionDomain.registerMemory(new ArrayBuffer(64));
    expect(whole.length).toBe(64);
  });

  it('refuse memory that can move or disappear, with the reason', () => {
    const { context, protectionDomain } = makeVerbs(backend);
    const map = vi.spyOn(context.driver.management, 'execute');
    // TypeScript's library has no second argument yet.
    const resizable = Reflect.construct(ArrayBuffer, [64, { maxByteLength: 128 }]) as ArrayBuffer;
    const detached = new ArrayBuffer(64);
    structuredClone(detached, { transfer: [detached] });
    const module = new WebAssembly.Memory({ initial: 2, maximum: 4 });
    const refused: [unknown, RegExp][] = [
      [resizable, /resizable/],
      [new Uint8Array(resizable, 8, 8), /resizable/],
      [detached, /empty or detached/],
      [new ArrayBuffer(0), /empty or detached/],
      [new ArrayBuffer(64).slice(64), /empty or detached/],
      [new SharedArrayBuffer(64), /must be an ArrayBuffer or a view on one/],
      [new Uint8Array(new SharedArrayBuffer(64)), /SharedArrayBuffer/],
      [module.buffer, /WebAssembly\.Memory, which moves when it grows; use allocate\(\), and copy/],
      [new Uint8Array(module.buffer, 100, 50), /WebAssembly/],
      [new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer, /ArrayBuffer or a view/],
      [[1, 2, 3], /must be an ArrayBuffer or a view on one/],
      ['text', /must be an ArrayBuffer or a view on one/],
      [undefined, /must be an ArrayBuffer or a view on one/],
    ];
    for (const [memory, message] of refused) {
      expect(() => protectionDomain.registerMemory(memory as ArrayBuffer)).toThrow(
        expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(message) as string }),
      );
    }
    expect(map).not.toHaveBeenCalled();
    module.grow(1);
  });

  it('can cover bytes on the heap of the runtime, which leave it', () => {
    const verbs = makeVerbs(backend);
    const [from, to] = makePair(verbs);
    const small = Uint8Array.of(1, 2, 3);
    const source = from.verbs.protectionDomain.registerMemory(small);
    const target = to.verbs.protectionDomain.registerMemory(new Uint8Array(3), everyRight);
    // the collector compacts the heap
    const churn = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(churn.length).toBe(100_000);
    from.queuePair.postSend({
      opcode: Opcode.rdmaWrite,
      gather: [source.slice()],
      remote: target.remote(),
      signaled: true,
    });
    const completion = new Completion();
    settle(verbs.board, backend, () => verbs.completionQueue.poll([completion]) === 1);
    expect(completion.status).toBe(CompletionStatus.success);
    expect([...target.bytes]).toEqual([1, 2, 3]);
  });

  it('can cover whole pages of the caller outside of WebAssembly, which nothing splits', () => {
    const { protectionDomain } = makeVerbs(backend);
    const pages = new Uint8Array(131_072).fill(5);
    for (let times = 0; times < 2; times++) {
      const region = protectionDomain.registerMemory(pages);
      expect(pages.length).toBe(131_072);
      expect(pages[131_071]).toBe(5);
      region.close();
    }
    const ofPool = Buffer.from('from the pool');
    expect(protectionDomain.registerMemory(ofPool).bytes).toEqual(new Uint8Array(ofPool));
  });

  it('refuse contradictory rights before they access the memory', () => {
    const { context, protectionDomain } = makeVerbs(backend);
    const { device, management } = context.driver;
    const taken = [
      vi.spyOn(device, 'allocate'),
      vi.spyOn(device.board, 'map'),
      vi.spyOn(management, 'execute'),
    ];
    const memory = new ArrayBuffer(64);
    const { remoteWrite, remoteAtomic, remoteRead } = Access;
    for (const access of [remoteWrite, remoteAtomic, remoteWrite | remoteAtomic | remoteRead]) {
      for (const call of [
        () => protectionDomain.allocate(64, access),
        () => protectionDomain.registerMemory(memory, access),
      ]) {
        expect(call).toThrow(
          expect.objectContaining({
            name: 'VerbsError',
            code: 'EINVAL',
            verb: 'registerMemory',
            attribute: 'access',
            expected: 'localWrite with remoteWrite and remoteAtomic',
          }),
        );
      }
    }
    expect(() => protectionDomain.registerMemory(memory, 256)).toThrow(RangeError);
    for (const each of taken) expect(each).not.toHaveBeenCalled();
    structuredClone(memory, { transfer: [memory] }); // it is not pinned
    expect(memory.byteLength).toBe(0);
  });
});

describe('a memory region without a key', () => {
  it('releases the memory that it would have covered', () => {
    const { context, protectionDomain } = makeVerbs(undefined, { memoryKeys: 16 });
    const { device, limits } = context.driver;
    for (let keys = 0; keys < limits.memoryKeys; keys++) protectionDomain.allocate(64);
    const unmap = vi.spyOn(device.board, 'unmap');
    const free = vi.spyOn(device, 'free');
    const noKey = expect.objectContaining({ code: 'ENOMEM', attribute: 'memoryKeys' }) as Error;
    expect(() => protectionDomain.allocate(64)).toThrow(noKey);
    expect([unmap.mock.calls.length, free.mock.calls.length]).toEqual([0, 1]);
    expect(() => protectionDomain.registerMemory(new ArrayBuffer(64))).toThrow(noKey);
    expect([unmap.mock.calls.length, free.mock.calls.length]).toEqual([1, 1]);
  });
});

describe('slices', () => {
  it('name part of a region, split into halves once', () => {
    const region = makeVerbs().protectionDomain.allocate(8192);
    const address = ({ addressLow, addressHigh }: { addressLow: number; addressHigh: number }): bigint =>
      BigInt(addressLow) + (BigInt(addressHigh) << 32n);
    expect(address(region.slice())).toBe(region.address);
    expect(region.slice()).toMatchObject({ length: 8192, localKey: region.localKey });
    expect(address(region.slice(5000))).toBe(region.address + 5000n);
    expect(region.slice(5000).length).toBe(3192);
    expect(region.slice(8192, 0).length).toBe(0);
    for (const [offset, length] of [
      [8192, 1],
      [-1, 1],
      [0, 8193],
      [0.5, 1],
      [0, Number.NaN],
    ] as const) {
      expect(() => region.slice(offset, length)).toThrow(RangeError);
    }
  });

  it('of remote memory keep its key', () => {
    const region = makeVerbs().protectionDomain.allocate(64);
    expect(region.remote()).toMatchObject({ address: region.address, key: region.remoteKey, length: 64 });
    const remote = new RemoteMemory({ address: 2n ** 64n - 16n, key: 0xffff_ffff, length: 16 });
    expect(remote).toMatchObject({ addressLow: 0xffff_fff0, addressHigh: 0xffff_ffff });
    expect(remote.slice(4, 8)).toMatchObject({ address: 2n ** 64n - 12n, key: 0xffff_ffff, length: 8 });
    expect(() => remote.slice(10, 7)).toThrow(RangeError);
    expect(new RemoteMemory({ address: 2 ** 53 - 1, key: 0, length: 0 }).address).toBe(2n ** 53n - 1n);
  });

  it.each([
    { address: -1, key: 0, length: 1 },
    { address: 2 ** 53, key: 0, length: 1 },
    { address: 0.5, key: 0, length: 1 },
    { address: -1n, key: 0, length: 1 },
    { address: 2n ** 64n, key: 0, length: 1 },
    { address: 0, key: -1, length: 1 },
    { address: 0, key: 2 ** 32, length: 1 },
    { address: 0, key: 0.5, length: 1 },
    { address: 0, key: 0, length: -1 },
    { address: 0, key: 0, length: Infinity },
  ])('of remote memory cannot be %o', (name) => {
    expect(() => new RemoteMemory(name)).toThrow(RangeError);
  });
});
