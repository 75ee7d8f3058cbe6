import { describe, expect, it } from 'vitest';

import { blockNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import {
  EventType,
  LinkLayer,
  PathMtu,
  PortPhysicalState,
  PortState,
  openDevice,
  type Context,
} from '../../lib/index.ts';
import { closing, describeOnBackends } from '../helpers/backends.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

describeOnBackends('a port', (backend) => {
  it('reports its state, address and tables', () => {
    const { context } = makeVerbs(backend, { ports: 2 });
    const port = context.queryPort(1);
    expect(port).toMatchObject({
      state: PortState.active,
      physicalState: PortPhysicalState.linkUp,
      linkLayer: LinkLayer.ethernet,
      maximumMtu: PathMtu.mtu4096,
      activeMtu: PathMtu.mtu4096,
      maximumMessageBytes: 2 ** 31,
      localIdentifier: 0,
    });
    expect(port.partitionKeys[0]).toBe(0xffff);
    // Link-local from the MAC as EUI-64 (RFC 4291).
    const [a, b, c, d, e, f] = port.mac as unknown as number[];
    expect([...port.gids[0]!]).toEqual([0xfe, 0x80, 0, 0, 0, 0, 0, 0, a! ^ 2, b, c, 0xff, 0xfe, d, e, f]);
    expect(context.queryGid(1, 0)).toEqual(port.gids[0]);
    expect([...context.queryGid(1, 1).subarray(0, 12)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
    expect(context.queryPort(2).mac).not.toEqual(port.mac);
    expect(() => context.queryPort(3)).toThrow(
      expect.objectContaining({ code: 'EINVAL', verb: 'queryPort', expected: '1 to 2' }),
    );
    expect(() => context.queryGid(1, port.gids.length)).toThrow(RangeError);
  });
});

describe('a port that the control function switches off and on', () => {
  it('goes down, and becomes active again: every function gets an event', () => {
    const { board, context } = makeVerbs(undefined, { ports: 2 });
    const guest = openDevice(board.open(1));
    const { offset, stride } = registerNamed(blockNamed('control'), 'port_control');
    const control = offset + stride;
    for (const [enable, state, type] of [
      [0, PortState.down, EventType.portError],
      [1, PortState.active, EventType.portActive],
    ] as const) {
      context.driver.device.controlPage!.write32(control, enable);
      context.driver.device.controlPage!.write32(control, enable);
      for (const each of [context, guest]) {
        expect(each.queryPort(1).state).toBe(PortState.active);
        expect(each.queryPort(2).state).toBe(state);
        expect(each.pollEvent()).toMatchObject({ type, object: 2 });
        expect(each.pollEvent()).toBeUndefined();
      }
    }
  });
});

describe('a port on a link of shared memory', () => {
  const link = encodeURIComponent(`shm:port ${process.pid}`);
  const open = (): Context =>
    closing(openDevice(`emu:?queuePairs=64&pageTableEntries=8192&memoryKeys=256&link=${link}`));
  const until = async (context: Context, state: PortState): Promise<void> => {
    const givenUp = performance.now() + 30_000;
    while (context.queryPort(1).state !== state) {
      if (performance.now() > givenUp) throw new Error('what the test waits for does not happen');
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it('is down while there is no other end', async () => {
    const first = open();
    expect(first.queryPort(1)).toMatchObject({
      state: PortState.down,
      physicalState: PortPhysicalState.polling,
    });
    const second = open();
    await until(first, PortState.active);
    expect(second.queryPort(1).state).toBe(PortState.active);
    expect(second.pollEvent()).toBeUndefined();
    second.close();
    await until(first, PortState.down);
    expect(first.pollEvent()).toMatchObject({ type: EventType.portActive, object: 1 });
    expect(first.pollEvent()).toMatchObject({ type: EventType.portError, object: 1 });
    expect(first.pollEvent()).toBeUndefined();
  });
});
