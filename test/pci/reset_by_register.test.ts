import { describe, expect, it } from 'vitest';

import { EmulatedBoard } from '../../lib/board/index.ts';
import { resetByRegister } from '../../lib/board/pci/reset_by_register.ts';
import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { CONTROL_CONTROL_OFFSET, RegionType } from '../../lib/spec/index.ts';
import { withReads } from '../helpers/backends.ts';

const sizes = { queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 };

describe('a reset by control register', () => {
  it('clears the state that a killed application left on the device', () => {
    using board = new EmulatedBoard(sizes);
    const left = new HcaDriver(board.open());
    expect(() => new HcaDriver(board.open())).toThrow('underlying function 0 already has a driver');
    const probe = board.open();
    resetByRegister(probe);
    probe.close();
    new HcaDriver(board.open()).close();
    left.device.close();
  });

  it('that does not complete is reported', () => {
    using board = new EmulatedBoard(sizes);
    const { offset } = board.regions.find(({ type }) => type === RegionType.control)!;
    const probe = board.open();
    const stuck = withReads(probe, (_, at) => (at === offset + CONTROL_CONTROL_OFFSET ? -1 : undefined));
    expect(() => resetByRegister(stuck)).toThrow('does not complete; expected: power off and on');
    probe.close();
  });
});
