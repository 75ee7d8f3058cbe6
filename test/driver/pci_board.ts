import type { BoardFunction, BoardOptions, EmulatedBoard } from '../../lib/board/addon.ts';
import { openBoard } from '../../lib/board/open_board.ts';
import { parseDeviceString } from '../../lib/board/device_string.ts';

/** A test that a board on PCIe cannot pass, as it asks for what only an emulated one of this process has. */
export class LeftOutError extends Error {
  override readonly name = 'LeftOutError';

  constructor(reason: string) {
    super(`left out: ${reason}`);
  }
}

/** Functions that are some test's board now. */
const taken = new Set<string>();
/** What a board on PCIe is as well: one of a fabric, with as many queue pairs as most tests ask for. */
const isMet = (option: string, value: unknown): boolean =>
  option === 'fabric' || (option === 'queuePairs' && Number(value) >= 16);

/**
 * The first of these PCI functions that no board is yet, in the place of an emulated board. Opening its function 0 opens it; all else
 * that an emulated board does is left out.
 */
export function pciBoard(devices: readonly string[], options: BoardOptions): EmulatedBoard {
  for (const [option, value] of Object.entries(options))
    if (!isMet(option, value)) throw new LeftOutError(`the test asks for a board with ${option}`);
  const device = devices.find((each) => !taken.has(each));
  if (device === undefined) throw new LeftOutError('the test asks for more boards than there are functions');
  taken.add(device);
  const opened: WeakRef<BoardFunction>[] = []; // a test may forget one
  const board = {
    open(underlyingFunction: number): BoardFunction {
      if (underlyingFunction !== 0) throw new LeftOutError('the test asks for another underlying function');
      const one = openBoard(parseDeviceString(device));
      opened.push(new WeakRef(one));
      return one;
    },
    close(): void {
      for (const one of opened.splice(0)) one.deref()?.close();
      taken.delete(device);
    },
  };
  return new Proxy(board as unknown as EmulatedBoard, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property);
      if (value === undefined) throw new LeftOutError(`the test looks into the board: ${String(property)}()`);
      return value;
    },
  });
}
