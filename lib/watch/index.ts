import { formatDeviceString, type EmulatedBoard } from '../board/index.ts';
import { DeviceFunction } from '../driver/device_function.ts';
import { Observer } from '../driver/observer.ts';
import { PageServer } from './page_server.ts';
import { Sight } from './sight.ts';
import { StepsDue } from './steps_due.ts';
import { Watching, type Driven } from './watching.ts';

/** Options for showing a program's own board. */
export interface WatchBoardOptions {
  /** TCP port of the page, on the loopback interface; 0: any free port. Default 0. */
  readonly port?: number;
  /** Underlying function that observes. Function 0, the control function, shows all functions; any other shows itself. Default 0. */
  readonly underlyingFunction?: number;
  /** Name of the board on the page. Default: its device string. */
  readonly name?: string;
  /**
   * Performs one step of a stepped board at the request of a page, and the program's work between two steps, such as polls and posts.
   * Default: one tick of the board's work, or a microsecond of its time if it is idle.
   */
  readonly step?: () => void;
  /**
   * Steps per second of a stepped board, 0 to 100,000, until a page changes it. Default 0: only the program and manual steps from a page
   * advance the board.
   */
  readonly stepsPerSecond?: number;
}

/** A page that shows a board of this program, from {@link watchBoard} until it is closed. */
export interface BoardPage {
  /** URL for a browser on this machine. It contains a token, without which the server refuses access. */
  readonly address: string;
  /** Resolves when the page is closed. Rejects with an error that `step` throws; the pages then show it, and the board stops. */
  readonly ended: Promise<void>;
  /** Closes all pages and the board's watches. A second call has no effect. */
  close(): Promise<void>;
  /** As {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}

const mostStepsPerSecond = 100_000;
/** Ticks of the device clock in a step of an idle board. */
const idleTicks = 1000;

/** A stepped board of the program, at the pace that the pages set. */
class SteppedBoard implements Driven {
  readonly isStepped = true;
  pace: number;
  private readonly board: EmulatedBoard;
  private readonly ticksPerNanosecond: number;
  private readonly doStep: () => void;
  private readonly due = new StepsDue();

  constructor(board: EmulatedBoard, clockFrequency: number, { step, stepsPerSecond = 0 }: WatchBoardOptions) {
    this.board = board;
    this.ticksPerNanosecond = clockFrequency / 1e9;
    this.pace = stepsPerSecond;
    this.doStep =
      step ??
      (() => {
        if (board.step(1) === 0) board.advanceTime(idleTicks);
      });
  }

  get time(): number {
    return Number(this.board.now()) / this.ticksPerNanosecond;
  }

  goOn(milliseconds: number): void {
    this.step(this.due.after(milliseconds, this.pace));
  }

  step(count: number): void {
    for (let done = 0; done < count; done++) this.doStep();
  }
}

/**
 * Serves a page that shows a board of this program live, as `hca watch` does, on the loopback interface, to browsers that have its address.
 * The server samples the board from the event loop ten times a second; it costs the board nothing while no page is open. It keeps the
 * process alive until it is closed. A stepped board runs in slow motion, by manual steps, or both, as a page selects.
 *
 * ```ts
 * const page = await watchBoard(board, { stepsPerSecond: 10 });
 * console.log(page.address);
 * ```
 *
 * @throws RangeError: an option is out of range, or the board has no such function; VerbsError EADDRINUSE: the port is taken, EACCES: this
 * user may not use it
 */
export async function watchBoard(board: EmulatedBoard, options: WatchBoardOptions = {}): Promise<BoardPage> {
  const { port = 0, underlyingFunction = 0, stepsPerSecond = 0 } = options;
  checkWhole('port', port, 65_535);
  checkWhole('stepsPerSecond', stepsPerSecond, mostStepsPerSecond);
  const name =
    options.name ?? formatDeviceString({ backend: 'emu', options: board.options, underlyingFunction });
  const opened: { close(): void }[] = [];
  const closeAll = (): void => {
    for (const each of opened.splice(0).reverse()) each.close();
  };
  const held = <Each extends { close(): void }>(each: Each): Each => {
    opened.push(each);
    return each;
  };
  try {
    const observer = held(new Observer(board.observe(underlyingFunction)));
    const { identity } = observer.device;
    const numbers = underlyingFunction === 0 ? identity.underlyingFunctions : 1;
    const functions = Array.from({ length: numbers }, (_, index) =>
      held(new DeviceFunction(board.observe(underlyingFunction + index))),
    );
    const isStepped = board.options.progress === 'stepped';
    const driven = isStepped ? new SteppedBoard(board, identity.clockFrequency, options) : undefined;
    const watching = held(new Watching(name, new Sight(observer, functions), driven));
    return boardPage(await PageServer.listen(port, watching), watching, closeAll);
  } catch (error) {
    closeAll();
    throw error;
  }
}

function boardPage(server: PageServer, watching: Watching, closeAll: () => void): BoardPage {
  let closing: Promise<void> | undefined;
  let close!: () => void;
  const closed = new Promise<void>((resolve) => (close = resolve));
  const end = async (): Promise<void> => {
    closeAll();
    await server.close();
    close();
  };
  return {
    address: server.address,
    ended: Promise.race([closed, watching.failed]),
    close: () => (closing ??= end()),
    [Symbol.asyncDispose]: () => (closing ??= end()),
  };
}

function checkWhole(name: keyof WatchBoardOptions, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new RangeError(`${name} must be 0 to ${most}, got ${value}`);
}
