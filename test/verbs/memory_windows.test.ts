import { describe, expect, it } from 'vitest';

import {
  Access,
  CompletionOpcode,
  CompletionStatus,
  EventType,
  Opcode,
  PathMtu,
  QueuePairState,
  RemoteMemory,
  nextRemoteKey,
  type Completion,
  type MemoryRegion,
  type MemoryWindow,
  type SendRequest,
} from '../../lib/index.ts';
import { everyRight, makePair, settle, type ConnectOptions, type End } from '../helpers/connected.ts';
import { makeVerbs, stepped, type Verbs } from '../helpers/make_verbs.ts';

const status = CompletionStatus;
const { remoteWrite, remoteRead, remoteAtomic, memoryWindowBind, zeroBased, localWrite } = Access;
const everyRemoteRight = remoteWrite | remoteRead | remoteAtomic;

/** A peer that accesses memory, and an owner with a region of 4 KiB over which it may bind windows. */
interface Scene {
  readonly verbs: Verbs;
  readonly peer: End;
  readonly owner: End;
  readonly region: MemoryRegion;
  readonly local: MemoryRegion;
}

function makeScene(options: ConnectOptions = {}, regionRights = everyRight | memoryWindowBind): Scene {
  const verbs = makeVerbs();
  const [peer, owner] = makePair(verbs, options);
  const region = verbs.protectionDomain.allocate(4096, regionRights);
  region.bytes.forEach((_, at) => (region.bytes[at] = (at * 7) & 0xff));
  return { verbs, peer, owner, region, local: verbs.protectionDomain.allocate(4096, everyRight) };
}

/** The completion of a work request: those of its queue pair are posted one at a time. */
function outcome(end: End, request: SendRequest): Completion {
  end.queuePair.postSend({ signaled: true, ...request });
  const [completion] = settle(end).filter(
    ({ workQueue, queuePairNumber }) => workQueue === 0 && queuePairNumber === end.queuePair.number,
  );
  return completion!;
}

interface Bound {
  readonly key?: number;
  readonly offset?: number;
  readonly length?: number;
  readonly access?: number;
  readonly region?: MemoryRegion;
}

/** Binds a window of type 2 by the owner, to 1000 B from byte 100 on. */
function bind(
  scene: Scene,
  window: MemoryWindow,
  changes: Bound = {},
): { key: number; how: CompletionStatus } {
  const {
    key = nextRemoteKey(window.remoteKey),
    offset = 100,
    length = 1000,
    access = everyRemoteRight,
  } = changes;
  const memory = { ...(changes.region ?? scene.region).slice(offset, 0), length };
  const { status: how, opcode } = outcome(scene.owner, {
    opcode: Opcode.bindMemoryWindow,
    bind: { key, memory, access },
  });
  if (how === status.success) expect(opcode).toBe(CompletionOpcode.bindMemoryWindow);
  return { key, how };
}

/** The result of an access by the peer to the window, from byte `offset` of the region on. */
function reach(
  { peer, region, local }: Scene,
  key: number,
  opcode: Opcode = Opcode.rdmaRead,
  offset = 100,
  length = 8,
  base = region.address,
): CompletionStatus {
  const remote = new RemoteMemory({ address: base + BigInt(offset), key, length });
  return outcome(peer, { opcode, gather: [local.slice(0, length)], remote, compareAdd: 1n, swap: 2n }).status;
}

describe('a memory window of type 2', () => {
  it('lets the peer access the bound range by its key', () => {
    const scene = makeScene();
    const { key, how } = bind(scene, scene.verbs.protectionDomain.createMemoryWindow(2));
    expect(how).toBe(status.success);
    expect(reach(scene, key, Opcode.rdmaRead, 104, 996)).toBe(status.success);
    expect(scene.local.bytes.subarray(0, 996)).toEqual(scene.region.bytes.subarray(104, 1100));
    scene.local.bytes.fill(0x5a);
    expect(reach(scene, key, Opcode.rdmaWrite, 1096, 4)).toBe(status.success);
    expect([...scene.region.bytes.subarray(1095, 1101)]).toEqual([
      (1095 * 7) & 0xff,
      0x5a,
      0x5a,
      0x5a,
      0x5a,
      (1100 * 7) & 0xff,
    ]);
    expect(reach(scene, key, Opcode.atomicFetchAndAdd, 104)).toBe(status.success);
  });

  it('covers several pages of its region', () => {
    const scene = makeScene();
    const region = scene.verbs.protectionDomain.allocate(40_000, everyRight | memoryWindowBind);
    region.bytes.forEach((_, at) => (region.bytes[at] = (at * 11) & 0xff));
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    const { key } = bind(scene, window, { region, offset: 5000, length: 30_000 });
    const large = { ...scene, region, local: scene.verbs.protectionDomain.allocate(30_000, everyRight) };
    expect(reach(large, key, Opcode.rdmaRead, 5000, 30_000)).toBe(status.success);
    expect(large.local.bytes).toEqual(region.bytes.subarray(5000, 35_000));
  });

  it('starts at address 0 if requested', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    const { key } = bind(scene, window, { access: everyRemoteRight | zeroBased });
    expect(reach(scene, key, Opcode.rdmaRead, 900, 100, 0n)).toBe(status.success);
    expect(scene.local.bytes.subarray(0, 100)).toEqual(scene.region.bytes.subarray(1000, 1100));
    expect(reach(scene, key, Opcode.rdmaRead, 901, 100, 0n)).toBe(status.remoteAccessError);
  });

  const refused: Readonly<Record<string, (scene: Scene, key: number) => CompletionStatus>> = {
    'one byte before': (scene, key) => reach(scene, key, Opcode.rdmaRead, 99),
    'one byte beyond': (scene, key) => reach(scene, key, Opcode.rdmaRead, 1093),
    'another variant of its key': (scene, key) => reach(scene, nextRemoteKey(key)),
    'a right that it does not give': (scene, key) => reach(scene, key, Opcode.rdmaWrite),
    'an atomic that it does not allow': (scene, key) => reach(scene, key, Opcode.atomicCompareAndSwap, 104),
  };
  it.each(Object.entries(refused))('refuses %s', (_, attempt) => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    const { key } = bind(scene, window, { access: remoteRead });
    expect(attempt(scene, key)).toBe(status.remoteAccessError);
    expect(scene.owner.queuePair.query().state).toBe(QueuePairState.error);
  });

  it('is accessible through the queue pair that bound it, and no other', () => {
    const scene = makeScene();
    const { key } = bind(scene, scene.verbs.protectionDomain.createMemoryWindow(2));
    const [other] = makePair(scene.verbs);
    expect(reach({ ...scene, peer: other }, key)).toBe(status.remoteAccessError);
    expect(reach(scene, key)).toBe(status.success);
  });

  it('has no key for local memory', () => {
    const scene = makeScene();
    const { key } = bind(scene, scene.verbs.protectionDomain.createMemoryWindow(2));
    const gather = [{ ...scene.region.slice(100, 8), localKey: key }];
    expect(outcome(scene.owner, { opcode: Opcode.send, gather }).status).toBe(status.localProtectionError);
  });

  it('gives no access before it is bound', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    expect(reach(scene, window.remoteKey)).toBe(status.remoteAccessError);
  });
});

describe('a bind', () => {
  const wrong: Readonly<Record<string, (scene: Scene, window: MemoryWindow) => Bound>> = {
    'to memory beyond the region': () => ({ offset: 4000, length: 97 }),
    'to memory before the region': ({ region }) => ({
      region: Object.assign(Object.create(region) as MemoryRegion, {
        slice: () => ({ ...region.slice(), addressLow: region.slice().addressLow - 1 }),
      }),
    }),
    'of a window of type 2 to nothing': () => ({ length: 0 }),
    'with a local right': () => ({ access: remoteRead | localWrite }),
    'of a key that is no window': ({ region }) => ({ key: region.remoteKey }),
    'of a key that there is not': (_, window) => ({ key: window.remoteKey + 0x4000 }),
    'to a region of another protection domain': ({ verbs }) => ({
      region: verbs.context.createProtectionDomain().allocate(4096, everyRight | memoryWindowBind),
    }),
    'of a window of another protection domain': ({ verbs }) => ({
      key: verbs.context.createProtectionDomain().createMemoryWindow(2).remoteKey,
    }),
    'to a region that does not allow it': ({ verbs }) => ({
      region: verbs.protectionDomain.allocate(4096, everyRight),
    }),
    'for writing, to a region that is not written here': ({ verbs }) => ({
      region: verbs.protectionDomain.allocate(4096, memoryWindowBind | remoteRead),
    }),
    'to another window': (scene) => {
      const other = scene.verbs.protectionDomain.createMemoryWindow(2);
      const { key } = bind(scene, other);
      const slice = { ...scene.region.slice(100, 8), localKey: key };
      return {
        region: Object.assign(Object.create(scene.region) as MemoryRegion, { slice: () => slice }),
        length: 8,
      };
    },
  };
  it.each(Object.entries(wrong))('%s fails, and its queue pair with it', (_, change) => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    expect(bind(scene, window, change(scene, window)).how).toBe(status.memoryWindowBindError);
    expect(scene.owner.queuePair.query().state).toBe(QueuePairState.error);
  });

  it('of a window of type 2 that is bound fails', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    const { key } = bind(scene, window);
    expect(bind(scene, window, { key: nextRemoteKey(key) }).how).toBe(status.memoryWindowBindError);
    expect(reach({ ...scene, peer: makePair(scene.verbs)[0] }, key)).toBe(status.remoteAccessError);
  });

  it('executes in the order of its queue pair, and later work requests see it', () => {
    const scene = makeScene();
    const { owner, peer, region, local, verbs } = scene;
    const windows = [1, 2, 3].map(() => verbs.protectionDomain.createMemoryWindow(2));
    peer.queuePair.postReceive([{ scatter: [local.slice(0, 64)] }, { scatter: [local.slice(64, 64)] }]);
    const remote = local.remote();
    owner.queuePair.postSend([
      { opcode: Opcode.send, gather: [region.slice(0, 64)], wrId: 1, signaled: true },
      {
        opcode: Opcode.rdmaRead,
        gather: [region.slice(2000, 2000)],
        remote: remote.slice(0, 2000),
        wrId: 2,
        signaled: true,
      },
      ...windows.map((window, index): SendRequest => ({
        opcode: Opcode.bindMemoryWindow,
        bind: { key: window.remoteKey, memory: region.slice(0, 8), access: remoteRead },
        wrId: 3 + index,
        signaled: true,
      })),
      { opcode: Opcode.localInvalidate, invalidateKey: windows[1]!.remoteKey, wrId: 6, signaled: true },
      { opcode: Opcode.send, gather: [region.slice(0, 64)], wrId: 7, signaled: true },
    ]);
    const sent = settle(owner).filter(({ workQueue }) => workQueue === 0);
    expect(sent.map(({ wrId, status: how }) => [wrId, how])).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((wrId) => [wrId, status.success]),
    );
    expect(reach(scene, windows[0]!.remoteKey, Opcode.rdmaRead, 0)).toBe(status.success);
    expect(reach(scene, windows[2]!.remoteKey, Opcode.rdmaRead, 0)).toBe(status.success);
    expect(reach(scene, windows[1]!.remoteKey, Opcode.rdmaRead, 0)).toBe(status.remoteAccessError);
  });

  it('works on unreliable connections too', () => {
    const scene = makeScene({ type: 'UC' });
    const { key, how } = bind(scene, scene.verbs.protectionDomain.createMemoryWindow(2));
    expect(how).toBe(status.success);
    scene.local.bytes.fill(0x5a);
    expect(reach(scene, key, Opcode.rdmaWrite, 100, 8)).toBe(status.success);
    expect([...scene.region.bytes.subarray(100, 108)]).toEqual(Array<number>(8).fill(0x5a));
  });

  it('is flushed in a failed queue pair', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    scene.owner.queuePair.modify({ state: QueuePairState.error });
    expect(bind(scene, window).how).toBe(status.workRequestFlushedError);
  });
});

describe('a memory window of type 1', () => {
  const options = ({ region }: Scene, offset: number) => ({
    memory: region.slice(offset, 64),
    access: remoteRead,
    signaled: true,
  });

  it('is bound by a verb, repeatedly, and unbound by length 0', () => {
    const scene = makeScene();
    const { owner, region } = scene;
    const window = scene.verbs.protectionDomain.createMemoryWindow(1);
    const first = owner.queuePair.bindMemoryWindow(window, options(scene, 0));
    expect(window.remoteKey).toBe(first);
    expect(settle(owner)).toMatchObject([
      { status: status.success, opcode: CompletionOpcode.bindMemoryWindow },
    ]);
    expect(reach(scene, first, Opcode.rdmaRead, 0)).toBe(status.success);
    const second = owner.queuePair.bindMemoryWindow(window, options(scene, 64));
    settle(owner);
    expect(reach(scene, second, Opcode.rdmaRead, 64)).toBe(status.success);
    const third = owner.queuePair.bindMemoryWindow(window, { memory: region.slice(0, 0), access: 0 });
    settle(owner);
    region.close();
    expect(reach(scene, third, Opcode.rdmaRead, 64)).toBe(status.remoteAccessError);
  });

  it('refuses its former key', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(1);
    const first = scene.owner.queuePair.bindMemoryWindow(window, options(scene, 0));
    scene.owner.queuePair.bindMemoryWindow(window, options(scene, 0));
    settle(scene.owner);
    expect(reach(scene, first, Opcode.rdmaRead, 0)).toBe(status.remoteAccessError);
  });

  it('is accessible through every queue pair of its protection domain', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(1);
    const key = scene.owner.queuePair.bindMemoryWindow(window, options(scene, 0));
    settle(scene.owner);
    expect(reach({ ...scene, peer: makePair(scene.verbs)[0] }, key, Opcode.rdmaRead, 0)).toBe(status.success);
    const elsewhere = { ...scene.verbs, protectionDomain: scene.verbs.context.createProtectionDomain() };
    const [stranger] = makePair(scene.verbs, {}, elsewhere);
    expect(reach({ ...scene, peer: stranger }, key, Opcode.rdmaRead, 0)).toBe(status.remoteAccessError);
  });

  it('cannot start at address 0, and cannot be invalidated', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(1);
    const key = scene.owner.queuePair.bindMemoryWindow(window, options(scene, 0));
    settle(scene.owner);
    expect(outcome(scene.owner, { opcode: Opcode.localInvalidate, invalidateKey: key }).status).toBe(
      status.memoryWindowBindError,
    );
    const [, owner] = makePair(scene.verbs);
    const zero = { ...options(scene, 0), access: remoteRead | zeroBased };
    owner.queuePair.bindMemoryWindow(window, zero);
    expect(settle(owner)).toMatchObject([{ status: status.memoryWindowBindError }]);
  });

  it('differs from type 2, which the verb does not bind', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    expect(() => scene.owner.queuePair.bindMemoryWindow(window, options(scene, 0))).toThrow(
      expect.objectContaining({ code: 'EINVAL', attribute: 'type' }),
    );
  });
});

describe('a local invalidate', () => {
  it('invalidates the key; the window may be bound again', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    const { key } = bind(scene, window);
    const taken = outcome(scene.owner, { opcode: Opcode.localInvalidate, invalidateKey: key });
    expect(taken).toMatchObject({ status: status.success, opcode: CompletionOpcode.localInvalidate });
    // A window that is not bound may be invalidated.
    expect(outcome(scene.owner, { opcode: Opcode.localInvalidate, invalidateKey: key }).status).toBe(0);
    const again = bind(scene, window, { key: nextRemoteKey(key) });
    expect(reach(scene, again.key)).toBe(status.success);
    expect(reach(scene, key)).toBe(status.remoteAccessError);
  });

  it.each([
    ['a region', ({ region }: Scene) => region.remoteKey],
    ['a former key', (_: Scene, key: number) => nextRemoteKey(key)],
    [
      'a window of another queue pair',
      (scene: Scene) => {
        const [, owner] = makePair(scene.verbs);
        return bind({ ...scene, owner }, scene.verbs.protectionDomain.createMemoryWindow(2)).key;
      },
    ],
  ])('of %s fails', (_, keyOf) => {
    const scene = makeScene();
    const { key } = bind(scene, scene.verbs.protectionDomain.createMemoryWindow(2));
    const invalidateKey = keyOf(scene, key);
    expect(outcome(scene.owner, { opcode: Opcode.localInvalidate, invalidateKey }).status).toBe(
      status.memoryWindowBindError,
    );
  });
});

describe('a SEND with invalidate', () => {
  const send = (key: number): SendRequest => ({
    opcode: Opcode.sendWithInvalidate,
    invalidateKey: key,
    inlineData: Uint8Array.of(1, 2, 3),
  });

  it('invalidates the key before its completion', () => {
    const scene = makeScene();
    const { key } = bind(scene, scene.verbs.protectionDomain.createMemoryWindow(2));
    scene.owner.queuePair.postReceive({ scatter: [scene.region.slice(0, 16)], wrId: 9 });
    scene.peer.queuePair.postSend(send(key));
    expect(settle(scene.owner)).toMatchObject([
      {
        wrId: 9,
        status: status.success,
        withInvalidate: true,
        withImmediate: false,
        immediateData: key,
        byteLength: 3,
      },
    ]);
    expect([...scene.region.bytes.subarray(0, 3)]).toEqual([1, 2, 3]);
    expect(reach(scene, key)).toBe(status.remoteAccessError);
  });

  it.each([
    ['a region', ({ region }: Scene) => region.remoteKey],
    ['no key', () => 0x1234_5678],
    [
      'a window of type 1',
      (scene: Scene) => {
        const window = scene.verbs.protectionDomain.createMemoryWindow(1);
        const key = scene.owner.queuePair.bindMemoryWindow(window, {
          memory: scene.region.slice(),
          access: remoteRead,
        });
        settle(scene.owner);
        return key;
      },
    ],
    [
      'a window of another queue pair',
      (scene: Scene) => {
        const [, owner] = makePair(scene.verbs);
        return bind({ ...scene, owner }, scene.verbs.protectionDomain.createMemoryWindow(2)).key;
      },
    ],
  ])('of %s is received with an error, and its queue pair fails', (_, keyOf) => {
    const scene = makeScene();
    const key = keyOf(scene);
    scene.owner.queuePair.postReceive({ scatter: [scene.region.slice(0, 16)] });
    scene.peer.queuePair.postSend({ ...send(key), signaled: true });
    const completions = settle(scene.owner);
    expect(completions.filter(({ workQueue }) => workQueue === 1)).toMatchObject([
      { status: status.remoteInvalidRequestError, withInvalidate: false },
    ]);
    expect(completions.filter(({ workQueue }) => workQueue === 0)).toMatchObject([
      { status: status.success },
    ]);
    const events = [];
    for (
      let event = scene.verbs.context.pollEvent();
      event !== undefined;
      event = scene.verbs.context.pollEvent()
    )
      events.push(event.type);
    expect(events).toContain(EventType.queuePairAccessError);
    expect(scene.owner.queuePair.query().state).toBe(QueuePairState.error);
  });
});

describe('invalidating a key', () => {
  const ways: Readonly<Record<string, (scene: Scene, window: MemoryWindow, key: number) => void>> = {
    'local invalidate': ({ owner }, _, invalidateKey) =>
      owner.queuePair.postSend({ opcode: Opcode.localInvalidate, invalidateKey, signaled: true }),
    'SEND with invalidate': ({ peer }, _, invalidateKey) =>
      peer.queuePair.postSend({ opcode: Opcode.sendWithInvalidate, invalidateKey, signaled: true }),
    'the end of the window': (_, window) => window.close(),
  };

  it.each(Object.entries(ways))('by %s waits for READs that are being answered', (_, takeBack) => {
    for (let steps = 0; steps < 320; steps += 16) {
      const scene = makeScene({ pathMtu: PathMtu.mtu256 });
      const { verbs, peer, owner, region, local } = scene;
      const window = verbs.protectionDomain.createMemoryWindow(2);
      const { key } = bind(scene, window, { offset: 0, length: 4096 });
      owner.queuePair.postReceive({});
      peer.queuePair.postSend({
        opcode: Opcode.rdmaRead,
        gather: [local.slice()],
        remote: new RemoteMemory({ address: region.address, key, length: 4096 }),
        signaled: true,
        wrId: 77,
      });
      verbs.board.step(steps);
      takeBack(scene, window, key);
      const completions = settle(peer);
      const read = completions.find(({ wrId }) => wrId === 77)!;
      // It has either begun or arrived too late: it is never answered in part.
      if (steps > 0) expect(read.status, `${steps} steps`).toBe(status.success);
      if (read.status === status.success) expect(local.bytes).toEqual(region.bytes);
      else expect(read.status).toBe(status.remoteAccessError);
      expect(
        completions.every(({ wrId, workQueue, status: how }) => wrId === 77 || workQueue === 1 || how === 0),
      ).toBe(true);
      expect(reach(scene, key, Opcode.rdmaRead, 0)).not.toBe(status.success);
      verbs.board.close();
    }
  });
});

describe('windows and the objects around them', () => {
  const busy = expect.objectContaining({ code: 'EBUSY' }) as Error;

  it('a region is not deregistered while a window is bound to it', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    const { key } = bind(scene, window);
    expect(() => scene.region.close()).toThrow(busy);
    expect(reach(scene, key)).toBe(status.success);
    window.close();
    scene.region.close();
  });

  it('a protection domain cannot be closed while it has windows, and a window is closed once', () => {
    const { context } = makeVerbs();
    const protectionDomain = context.createProtectionDomain();
    const window = protectionDomain.createMemoryWindow(1);
    expect(() => protectionDomain.close()).toThrow(busy);
    expect(() => protectionDomain.driver.destroy()).toThrow(busy);
    window.close();
    window.close();
    expect(() => window.driver.destroy()).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    protectionDomain.close();
  });

  it('a key of a closed window is refused', () => {
    const scene = makeScene();
    const window = scene.verbs.protectionDomain.createMemoryWindow(2);
    const { key } = bind(scene, window);
    window.close();
    expect(reach(scene, key)).toBe(status.remoteAccessError);
  });

  it('there are as many as there are keys, and their types are 1 and 2', () => {
    const { protectionDomain } = makeVerbs(stepped, { memoryKeys: 8 });
    for (let count = 0; count < 7; count++) protectionDomain.createMemoryWindow(1);
    expect(() => protectionDomain.createMemoryWindow(2)).toThrow(
      expect.objectContaining({ code: 'ENOMEM', attribute: 'memoryKeys' }),
    );
    expect(() => protectionDomain.createMemoryWindow(3 as never)).toThrow(TypeError);
  });

  it('wrong work requests name the missing field', () => {
    const { owner, region } = makeScene();
    const invalid = (attribute: string): Error =>
      expect.objectContaining({ code: 'EINVAL', attribute }) as Error;
    const post = (request: SendRequest) => () => owner.queuePair.postSend(request);
    expect(post({ opcode: Opcode.localInvalidate })).toThrow(invalid('invalidateKey'));
    expect(post({ opcode: Opcode.sendWithInvalidate })).toThrow(invalid('invalidateKey'));
    expect(post({ opcode: Opcode.bindMemoryWindow })).toThrow(invalid('bind'));
    expect(post({ opcode: Opcode.localInvalidate, invalidateKey: 1, gather: [] })).toThrow(invalid('gather'));
    expect(post({ opcode: Opcode.localInvalidate, invalidateKey: -1 })).toThrow(RangeError);
    const bindTo = { key: 2 ** 32, memory: region.slice(), access: 0 };
    expect(post({ opcode: Opcode.bindMemoryWindow, bind: bindTo })).toThrow(RangeError);
    expect(
      post({ opcode: Opcode.bindMemoryWindow, bind: { ...bindTo, key: 1, memory: {} as never } }),
    ).toThrow(TypeError);
  });
});
