import { describe, expect, it } from 'vitest';

import type { BoardFunction } from '../../lib/board/addon.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import {
  CONTROL_TRANSACTIONS_OFFSET,
  CONTROL_WRITES_UNCLAIMED_OFFSET,
  UNDERLYING_FUNCTION_COMMANDS_SENT_OFFSET,
  UNDERLYING_FUNCTION_KICKS_OFFSET,
} from '../../lib/spec/index.ts';
import { makeCommand } from '../helpers/command.ts';
import { makeBoard, openDriver, type Backend } from '../helpers/backends.ts';

// Boards that a command reaches in one transaction; test/hca/collect_buffer_burst tests its effect there.

const shared: Backend = { name: 'emu:?progress=shared', options: { progress: 'shared' } };
const registerBar = 0;
const controlOffset = 0x10000;
const registerOffset = 0x20000;

/** Stores a command at an offset of a BAR as the driver does. */
function store(to: BoardFunction, bar: number, offset: number, command: Uint8Array): void {
  const memory = to.allocateMemory(command.length);
  new Uint8Array(memory.buffer).set(command);
  to.commandWriter(memory, bar).write(offset, 0, command.length);
  memory.free();
}

describe('a command written in one transaction', () => {
  it('is kicked and executed only if written to a VCB', () => {
    const emulated = makeBoard(shared);
    const driver = openDriver(emulated);
    const { board, page, controlPage, virtualCollectBufferRegion } = driver.device;
    const { queuePair } = new UnansweredQueuePair(driver, { entries: 4, gatherEntries: 1, inlineBytes: 256 });
    const command = makeCommand({ length: 96, queuePairNumber: queuePair.number });
    store(board, registerBar, registerOffset, command);
    expect(page.read32(UNDERLYING_FUNCTION_KICKS_OFFSET)).toBe(0);
    const transactions = controlPage!.read32(CONTROL_TRANSACTIONS_OFFSET);
    while (board.advance());
    const { steps } = emulated.counters();
    const { bar, offset } = virtualCollectBufferRegion;
    store(board, bar, offset, command);
    while (board.advance());
    expect(emulated.counters().steps).toBeGreaterThan(steps); // before anything else wakes the device
    expect(page.read32(UNDERLYING_FUNCTION_KICKS_OFFSET)).toBe(1);
    expect(page.read32(UNDERLYING_FUNCTION_COMMANDS_SENT_OFFSET)).toBe(1);
    expect(controlPage!.read32(CONTROL_TRANSACTIONS_OFFSET)).toBe(transactions + 3);
  });

  it('counts its transactions also if it is refused', () => {
    const driver = openDriver(makeBoard(shared));
    const { board, page, controlPage, virtualCollectBufferRegion } = driver.device;
    const { bar, offset } = virtualCollectBufferRegion;
    const transactions = controlPage!.read32(CONTROL_TRANSACTIONS_OFFSET);
    store(board, bar, offset, makeCommand({ length: 96, queuePairNumber: 0x010fff }));
    expect(controlPage!.read32(CONTROL_TRANSACTIONS_OFFSET)).toBe(transactions + 3);
    expect(page.read32(UNDERLYING_FUNCTION_KICKS_OFFSET)).toBe(0);
  });

  it('belongs to no function on a device that is not enabled', () => {
    const opened = makeBoard(shared).open(0);
    store(opened, 2, 0, makeCommand({ length: 96, queuePairNumber: 0x010001 }));
    expect(opened.read32(registerBar, controlOffset + CONTROL_WRITES_UNCLAIMED_OFFSET)).toBe(3);
    opened.close();
  });
});
