import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';

import { loadAddon, type BoardOptions, type EmulatedBoard as NativeBoard } from '../../lib/board/addon.ts';
import { EmulatedBoard } from '../../lib/board/index.ts';
import type { ServedPciFunction } from '../helpers/pci_proxy/pci_proxy.ts';
import { fromLine, toLine, type BoardAnswer, type BoardRequest } from '../helpers/board_line.ts';
import { serveFunction, slots, type HcaGuestOptions, type SlotOptions } from './hca_machine.ts';

/** A board, and its functions in the machine. */
interface Seat {
  board: EmulatedBoard;
  /** The same board as an object of the addon. */
  native: NativeBoard;
  readonly served: ServedPciFunction[];
}

/** The number of functions of a board in the machine, each in its own slot. */
const functionsOfBoard = 3;

let boards = 0;

/**
 * Boards whose functions are in the slots of a machine. A program in the machine chooses, changes and
 * inspects them over the machine's second serial line; test/driver/board_line.ts is the other end.
 */
export class ChosenBoards {
  /** The name of the serial line in the guest. */
  static readonly line = '/dev/ttyS1';
  /** The slots of each board, its function 0 first. */
  static readonly boards: readonly (readonly string[])[] = Array.from(
    { length: slots.length / functionsOfBoard },
    (_, board) => slots.slice(board * functionsOfBoard, (board + 1) * functionsOfBoard),
  );

  /** Arguments of the emulator. */
  readonly machine: readonly string[];
  readonly functions: HcaGuestOptions['functions'];
  private readonly seats: Seat[];

  /**
   * @param host the folder from hostFolder()
   * @param options of the boards that exist first
   */
  constructor(host: string, options: BoardOptions) {
    const file = path.join(host, 'line');
    this.machine = ['-chardev', `socket,id=line,path=${file}`, '-serial', 'chardev:line'];
    this.seats = ChosenBoards.boards.map(() => makeBoard(options));
    this.functions = this.seats.flatMap((seat) =>
      Array.from({ length: functionsOfBoard }, (_, number) => async (stream: Duplex, slot: SlotOptions) => {
        const served = serveFunction(seat.board, stream, slot, number);
        seat.served.push(served);
        await served.ended;
      }),
    );
    const server = createServer().listen(file);
    void once(server, 'connection').then(([socket]: Socket[]) => this.attend(socket!));
    onTestFinished(() => {
      server.close();
      for (const seat of this.seats) close(seat);
    });
  }

  private attend(socket: Socket): void {
    socket.on('error', () => {}); // the emulator has ended
    createInterface(socket).on('line', (line) => {
      socket.write(toLine(this.answer(fromLine(line) as BoardRequest)));
    });
  }

  private answer(request: BoardRequest): BoardAnswer {
    try {
      const seat = this.seats[request.board]!;
      if ('load' in request) return { value: load(seat, request.load) };
      const method: unknown = Reflect.get(seat.native, request.method);
      if (typeof method !== 'function') throw new Error(`a board has no ${request.method}()`);
      return { value: Reflect.apply(method, seat.native, request.arguments) };
    } catch (error) {
      return { failure: String(error) };
    }
  }
}

/** Boards with the same name are one board. */
function makeBoard(options: BoardOptions): Seat {
  const named = { ...options, name: `chosen-${(boards += 1)}` };
  return { board: new EmulatedBoard(named), native: new (loadAddon().EmulatedBoard)(named), served: [] };
}

function load(seat: Seat, options: BoardOptions): void {
  const before = { ...seat };
  const { board, native } = makeBoard(options);
  for (const served of seat.served) served.load(board);
  Object.assign(seat, { board, native });
  close(before);
}

function close({ board, native }: Seat): void {
  board.close();
  native.close();
}
