import { describe, expect, it } from 'vitest';

import { loadAddon } from '../../lib/board/addon.ts';
import { IDENTITY_BAR } from '../../lib/board/regions.ts';
import { whyStalled } from '../../lib/driver/why.ts';
import { DeviceFunction } from '../../lib/driver/device_function.ts';
import { Observer } from '../../lib/driver/observer.ts';
import {
  CONTROL_CONTROL_OFFSET,
  IDENTITY_MAGIC_RESET,
  RegionType,
  UNDERLYING_FUNCTION_INSPECT_QUEUE_PAIR_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_LOCK_OFFSET,
  UNDERLYING_FUNCTION_RESET_OFFSET,
} from '../../lib/spec/index.ts';
import { closing } from '../helpers/backends.ts';
import { connectPair, exchange, open, serve, untilOpen } from './serving.ts';

/** Observes a function beside the process that has it open. */
function lookAt(path: string, underlyingFunction: number): DeviceFunction {
  return closing(new DeviceFunction(loadAddon().openServed(path, underlyingFunction, true)));
}

describe('an observer of a function of a served board', () => {
  it('needs no function of its own, and reads registers with a selection of its own', async () => {
    const serving = serve();
    const { path } = serving;
    const client = open(`serve:${path}/1`);
    const pair = connectPair(client, client);
    const looks = [0, 0, 1, 2].map((number) => lookAt(path, number));
    await untilOpen(serving, [1]);
    const numbers = pair.map(({ queuePair }) => queuePair.number) as [number, number];
    const { page } = client.driver.device;
    page.write32(UNDERLYING_FUNCTION_INSPECT_QUEUE_PAIR_OFFSET, numbers[1]);
    for (let times = 0; times < 3; times += 1) {
      const seen = looks.map((look, index) => whyStalled(look, numbers[index % 2]!)?.queuePair.number);
      expect(seen).toEqual([numbers[0], numbers[1], numbers[0], undefined]);
    }
    expect(page.read32(UNDERLYING_FUNCTION_INSPECT_QUEUE_PAIR_OFFSET)).toBe(numbers[1]);
    await exchange(pair, 9);
  });

  it.each([
    ['the function', 1, RegionType.underlyingFunction, UNDERLYING_FUNCTION_RESET_OFFSET],
    ['the device', 0, RegionType.control, CONTROL_CONTROL_OFFSET],
  ])('cannot reset %s, and is disconnected', async (_, underlyingFunction, region, offset) => {
    const serving = serve();
    const { path, served } = serving;
    const client = open(`serve:${path}/1`);
    const pair = connectPair(client, client);
    const look = lookAt(path, underlyingFunction);
    served.takeNotices();
    look.regions.page(region, underlyingFunction).write32(offset, 3);
    expect(look.board.read32(IDENTITY_BAR, 0)).toBe(0xffff_ffff);
    await exchange(pair, 10);
    expect(served.takeNotices()).toMatchObject([
      { kind: 'refused', underlyingFunction, reason: 'a write by an observer' },
    ]);
  });

  it('cannot take a lock, or allocate memory', () => {
    const { path } = serve();
    const client = open(`serve:${path}/1`);
    const look = lookAt(path, 1);
    expect(look.board.read32(...lockOf(look))).toBe(0xffff_ffff);
    expect(look.board.read32(IDENTITY_BAR, 0)).toBe(IDENTITY_MAGIC_RESET);
    expect(() => look.allocate(4096)).toThrow(expect.objectContaining({ code: 'ENOMEM' }));
    expect(client.createProtectionDomain()).toBeDefined();
  });

  it('can watch the same function twice, and each watch ends separately', async () => {
    const { path } = serve();
    const client = open(`serve:${path}/1`);
    const pair = connectPair(client, client);
    const observer = closing(new Observer(loadAddon().openServed(path, 1, true)));
    const [first, second] = [observer.watchKicks(), observer.watchKicks()];
    await exchange(pair, 11);
    const count = first.take().length;
    expect(count).toBeGreaterThan(0);
    expect(second.take()).toHaveLength(count);
    first.close();
    observer.queuePairs(); // a round trip: the server has handled the earlier messages
    await exchange(pair, 12);
    expect(second.take().length).toBeGreaterThan(0);
    expect(second.lost).toBe(0);
  });

  it('can only open an existing function', () => {
    const { path } = serve({ underlyingFunctions: 2 });
    expect(() => loadAddon().openServed(path, 2, true)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
  });
});

function lockOf(look: DeviceFunction): [bar: number, offset: number] {
  const { bar, offset, pageStride } = look.regions.find(RegionType.underlyingFunction);
  return [bar, offset + look.underlyingFunction * pageStride + UNDERLYING_FUNCTION_MANAGEMENT_LOCK_OFFSET];
}
