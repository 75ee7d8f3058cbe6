import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe } from 'vitest';

import {
  loadAddon,
  type BoardFunction,
  type BoardOptions,
  type EmulatedBoard,
} from '../../lib/board/addon.ts';
import type { RtlAddon } from '../../lib/board/rtl_addon.ts';
import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { pciBoard } from './pci_board.ts';

/** A backend that the driver's tests run on. */
export interface Backend {
  /** Name, as in a device string. */
  readonly name: string;
  readonly options: BoardOptions;
  /** Whether functions are opened through a server's socket, as by another process. */
  readonly isServed?: boolean;
  /** Boards on PCIe, each by the device strings of its functions, function 0 first. */
  readonly boards?: readonly (readonly string[])[];
}

/** Whether FPGA_VERBS_ADDON names the addon with blocks in RTL; boards then have the sizes of the RTL. */
const { rtlSizes }: Partial<RtlAddon> = loadAddon();

export const backends: readonly Backend[] = (['shared', 'own', 'stepped'] as const).map((progress) => ({
  name: `${rtlSizes === undefined ? 'emu' : 'rtl'}:?progress=${progress}`,
  options: { progress, ...rtlSizes },
}));

export const served: Backend = {
  name: 'serve:',
  options: { progress: 'shared', ...rtlSizes },
  isServed: true,
};

/**
 * The only backend if FPGA_VERBS_TEST_DEVICE names boards on PCIe, separated by commas, with + between the functions of a board.
 * Tests of other backends do not run then.
 */
const onPci: Backend | undefined = (() => {
  const boards = process.env['FPGA_VERBS_TEST_DEVICE']?.split(',').map((board) => board.split('+'));
  return boards && { name: boards[0]![0]!, options: { progress: 'own' }, boards };
})();

const opened: { close(): void }[] = [];

afterEach(() => {
  for (const object of opened.splice(0).reverse()) object.close();
});

/** Objects that close when the test ends. */
export function closing<Closed extends { close(): void }>(object: Closed): Closed {
  opened.push(object);
  return object;
}

/** Sizes small enough for a test that opens hundreds of boards. */
const small: BoardOptions = { queuePairs: 256, pageTableEntries: 4096, memoryKeys: 256 };

/** A board of a backend, closed when the test ends. */
export function makeBoard(backend: Backend, options: BoardOptions = {}): EmulatedBoard {
  if (backend.boards !== undefined) return closing(pciBoard(backend.boards, { ...small, ...options }));
  const board = closing(new (loadAddon().EmulatedBoard)({ ...small, ...backend.options, ...options }));
  return backend.isServed === true ? openedByClients(board) : board;
}

let sockets = 0;

/** A unique path for the socket of a served board. The test removes a socket that a killed server leaves there. */
export function newSocket(): string {
  const socket = path.join(tmpdir(), `fpga-verbs-test-${process.pid}-${(sockets += 1)}`);
  closing({ close: () => rmSync(socket, { force: true }) });
  return socket;
}

/** A board whose functions are all opened through its socket. */
function openedByClients(board: EmulatedBoard): EmulatedBoard {
  const socket = newSocket();
  closing(board.serve({ path: socket, firstFunction: 0 }));
  const open = (underlyingFunction: number): BoardFunction =>
    loadAddon().openServed(socket, underlyingFunction);
  return new Proxy(board, {
    get: (target, property) => {
      if (property === 'open') return open;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A driver of a function, closed when the test ends. */
export function openDriver(board: EmulatedBoard, underlyingFunction = 0): HcaDriver {
  return closing(new HcaDriver(board.open(underlyingFunction)));
}

/** Runs the device until it is idle; on boards with their own thread, until `done`. */
export function settle(board: EmulatedBoard, backend: Backend, done: () => boolean = () => true): void {
  if (backend.options.progress === 'stepped') board.runUntilIdle();
  const givenUp = performance.now() + 60_000;
  while (!done()) {
    if (performance.now() > givenUp) throw new Error('what the test waits for does not happen');
  }
}

/** Runs tests on the backends whose device can access existing memory of the process: in this process, or on PCIe. */
export function describeInProcess(subject: string, tests: (backend: Backend) => void): void {
  for (const backend of onPci === undefined ? backends : [onPci])
    describe(`${subject} on ${backend.name}`, () => tests(backend));
}

/** Runs tests on every backend. */
export function describeOnBackends(subject: string, tests: (backend: Backend) => void): void {
  for (const backend of onPci === undefined ? [...backends, served] : [onPci])
    describe(`${subject} on ${backend.name}`, () => tests(backend));
}

/** An open function with changed read results: `answer` returns the value, or undefined for no change. */
export function withReads(
  board: BoardFunction,
  answer: (bar: number, offset: number) => number | undefined,
): BoardFunction {
  return new Proxy(board, {
    get: (target, property) => {
      if (property === 'read32') {
        return (bar: number, offset: number) => answer(bar, offset) ?? target.read32(bar, offset);
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
