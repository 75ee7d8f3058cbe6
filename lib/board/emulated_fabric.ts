import { randomUUID } from 'node:crypto';

import type { BoardOptions } from './addon.ts';
import type { LinkImpairment, LinkImpairmentCounters } from './faults.ts';
import { EmulatedBoard, type InjectedImpairment } from './emulated_board.ts';

const noCounters: LinkImpairmentCounters = { packets: 0, lost: 0, duplicated: 0, corrupted: 0, reordered: 0 };

/**
 * Emulated boards of this process with connected ports. The fabric is a switch that knows every address from the start and loses nothing
 * unless an impairment says so. Stepped boards of a fabric advance together, on one clock, in the order of their creation.
 *
 * ```ts
 * using fabric = new EmulatedFabric();
 * const [a, b] = [fabric.makeBoard({ progress: 'stepped' }), fabric.makeBoard({ progress: 'stepped' })];
 * a.runUntilIdle(); // both
 * ```
 */
export class EmulatedFabric {
  /** Name of the fabric: the option `fabric` of boards, also in device strings. */
  readonly name: string;
  private readonly boards: EmulatedBoard[] = [];

  /** Fabrics with the same name are one fabric in the whole process. @param name default: a new name */
  constructor(name: string = randomUUID()) {
    this.name = name;
  }

  /**
   * Creates a board with its ports in this fabric.
   * @throws RangeError, TypeError: an invalid option; Error: its boardNumber is in use
   */
  makeBoard(options: BoardOptions = {}): EmulatedBoard {
    const board = new EmulatedBoard({ ...options, fabric: this.name });
    this.boards.push(board);
    return board;
  }

  /**
   * Loses, delays, duplicates, reorders or damages packets on the way to the boards of this fabric, each with its own random numbers. For
   * one direction use {@link EmulatedBoard.impair} of the receiving board.
   */
  impair(rule: LinkImpairment): InjectedImpairment {
    const impairments = this.boards.map((board) => board.impair(rule));
    return {
      get counters() {
        return impairments.map(({ counters }) => counters).reduce(addCounters, noCounters);
      },
      remove: () => {
        for (const impairment of impairments) impairment.remove();
      },
    };
  }

  /** Closes the boards of this fabric. A second call has no effect. */
  close(): void {
    for (const board of this.boards) board.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function addCounters(one: LinkImpairmentCounters, other: LinkImpairmentCounters): LinkImpairmentCounters {
  return {
    packets: one.packets + other.packets,
    lost: one.lost + other.lost,
    duplicated: one.duplicated + other.duplicated,
    corrupted: one.corrupted + other.corrupted,
    reordered: one.reordered + other.reordered,
  };
}
