import { randomUUID } from 'node:crypto';

import type { BoardOptions } from './addon.ts';
import { EmulatedBoard } from './emulated_board.ts';

/**
 * Emulated boards of this process whose ports are connected. The fabric knows every address from the start and loses nothing.
 * Stepped boards of a fabric advance together, on one clock, in the order in which they were made.
 *
 * ```ts
 * using fabric = new EmulatedFabric();
 * const [a, b] = [fabric.makeBoard({ progress: 'stepped' }), fabric.makeBoard({ progress: 'stepped' })];
 * a.runUntilIdle(); // both
 * ```
 */
export class EmulatedFabric {
  /** What boards name as their `fabric`, in device strings too. */
  readonly name: string;
  private readonly boards: EmulatedBoard[] = [];

  /** Fabrics of one name are one fabric in the whole process. @param name default: one that nobody has */
  constructor(name: string = randomUUID()) {
    this.name = name;
  }

  /**
   * Makes a board with its ports in this fabric.
   * @throws RangeError, TypeError: an option is wrong; Error: its boardNumber is in use
   */
  makeBoard(options: BoardOptions = {}): EmulatedBoard {
    const board = new EmulatedBoard({ ...options, fabric: this.name });
    this.boards.push(board);
    return board;
  }

  /** Gives up the boards that were made here. Twice is once. */
  close(): void {
    for (const board of this.boards) board.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
