import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

import { loadAddon, type BoardOptions, type EmulatedBoard as NativeBoard } from '../../lib/board/addon.ts';
import { EmulatedBoard } from '../../lib/board/index.ts';
import type { ServedPciFunction } from '../../lib/board/pci_proxy/pci_proxy.ts';
import { fromLine, toLine, type BoardAnswer, type BoardRequest } from '../driver/board_line.ts';
import { serveFunction, slots, type HcaGuestOptions } from './hca_machine.ts';

/** A board in a slot, and its function there. */
interface Seat {
  board: EmulatedBoard;
  /** The same board, as the addon gives it. */
  native: NativeBoard;
  served?: ServedPciFunction;
}

let boards = 0;

/**
 * Boards in the slots of a machine that what runs in it chooses, changes and looks into, over the machine's second serial line:
 * test/driver/board_line.ts is the other end.
 */
export class ChosenBoards {
  /** What the guest calls the line. */
  static readonly line = '/dev/ttyS1';

  /** Arguments of the emulator. */
  readonly machine: readonly string[];
  readonly functions: HcaGuestOptions['functions'];
  private readonly seats: Seat[];

  /** @param host what hostFolder() gave. @param options of the boards that are there first */
  constructor(host: string, options: BoardOptions) {
    const file = path.join(host, 'line');
    this.machine = ['-chardev', `socket,id=line,path=${file}`, '-serial', 'chardev:line'];
    this.seats = slots.map(() => makeBoard(options));
    this.functions = this.seats.map((seat) => async (stream, slot) => {
      seat.served = serveFunction(seat.board, stream, slot);
      await seat.served.ended;
    });
    const server = createServer().listen(file);
    void once(server, 'connection').then(([socket]: Socket[]) => this.attend(socket!));
    onTestFinished(() => {
      server.close();
      for (const seat of this.seats) close(seat);
    });
  }

  private attend(socket: Socket): void {
    socket.on('error', () => {}); // the machine has ended
    createInterface(socket).on('line', (line) => {
      socket.write(toLine(this.answer(fromLine(line) as BoardRequest)));
    });
  }

  private answer(request: BoardRequest): BoardAnswer {
    try {
      const seat = this.seats[request.slot]!;
      if ('load' in request) return { value: load(seat, request.load) };
      const method: unknown = Reflect.get(seat.native, request.method);
      if (typeof method !== 'function') throw new Error(`a board has no ${request.method}()`);
      return { value: Reflect.apply(method, seat.native, request.arguments) };
    } catch (error) {
      return { failure: String(error) };
    }
  }
}

/** Boards of one name are one. */
function makeBoard(options: BoardOptions): Seat {
  const named = { ...options, name: `chosen-${(boards += 1)}` };
  return { board: new EmulatedBoard(named), native: new (loadAddon().EmulatedBoard)(named) };
}

function load(seat: Seat, options: BoardOptions): void {
  const before = { ...seat };
  const next = makeBoard(options);
  seat.served!.load(next.board);
  Object.assign(seat, next);
  close(before);
}

function close({ board, native }: Seat): void {
  board.close();
  native.close();
}
