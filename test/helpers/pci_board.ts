import type { BoardFunction, BoardOptions, EmulatedBoard } from '../../lib/board/addon.ts';
import { openBoard } from '../../lib/board/open_board.ts';
import { parseDeviceString } from '../../lib/board/device_string.ts';
import { BoardLine } from './board_line.ts';

/** A test needs a feature that only an emulated board of this process has. */
export class LeftOutError extends Error {
  override readonly name = 'LeftOutError';

  constructor(reason: string) {
    super(`left out: ${reason}`);
  }
}

/** Boards in use by a test. */
const taken = new Set<readonly string[]>();
/** The line to the boards, if they are emulated outside of this machine. */
const line = ((path) => (path === undefined ? undefined : new BoardLine(path)))(
  process.env['FPGA_VERBS_TEST_LINE'],
);

/**
 * The first unused board of these on PCIe, in place of an emulated board. Opening a function opens its PCI function. All other methods
 * of an emulated board are forwarded over FPGA_VERBS_TEST_LINE, or omitted without such a line.
 * @param boards each by the device strings of its functions, function 0 first
 */
export function pciBoard(boards: readonly (readonly string[])[], options: BoardOptions): EmulatedBoard {
  const number = boards.findIndex((each) => !taken.has(each));
  if (number < 0) throw new LeftOutError('the test asks for more boards than there are');
  const functions = boards[number]!;
  loadBoard(number, options);
  taken.add(functions);
  const opened: WeakRef<BoardFunction>[] = []; // a test may not close one
  const board = {
    open(underlyingFunction: number): BoardFunction {
      const device = functions[underlyingFunction];
      if (device === undefined) throw new LeftOutError('the test asks for another underlying function');
      const one = openBoard(parseDeviceString(device));
      opened.push(new WeakRef(one));
      return one;
    },
    close(): void {
      for (const one of opened.splice(0)) one.deref()?.close();
      taken.delete(functions);
    },
  };
  return new Proxy(board as unknown as EmulatedBoard, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property);
      const method = String(property);
      if (value !== undefined) return value;
      if (line === undefined) throw new LeftOutError(`the test looks into the board: ${method}()`);
      return (...given: unknown[]) => line.ask({ board: number, method, arguments: given });
    },
  });
}

function loadBoard(board: number, options: BoardOptions): void {
  if (line !== undefined) {
    line.ask({ board, load: options });
    return;
  }
  const other = Object.entries(options).find(([option, value]) => !isMet(option, value));
  if (other !== undefined) throw new LeftOutError(`the test asks for a board with ${other[0]}`);
}

/** Options that a board on PCIe satisfies: a fabric, and the number of queue pairs of most tests. */
const isMet = (option: string, value: unknown): boolean =>
  option === 'fabric' || (option === 'queuePairs' && Number(value) >= 16);
