import { once } from 'node:events';

import { parseDeviceString, type DeviceName } from '../../board/index.ts';
import { DeviceFunction } from '../../driver/device_function.ts';
import { Observer } from '../../driver/observer.ts';
import { observedFunctions } from '../observe/functions.ts';
import { observe } from '../observe/watching.ts';
import type { Output } from '../output/output.ts';
import type { Scope } from '../scope.ts';
import { parseRequest, type PageMessage } from './frames.ts';
import { OwnBoard } from './own_board.ts';
import { PageServer, type Page, type PageListener } from './page_server.ts';
import { Sight } from './sight.ts';

/** Options of `hca watch`. */
export interface WatchOptions {
  /** TCP port of the page; 0: any that is free. */
  readonly port: number;
}

/** Milliseconds between two looks at the rings; the registers are read at every second look. */
const pace = 100;
const looksOfState = 2;
const looksOfQueuePairs = 10;
/** Between two listings of the queue pairs: so many times as long as one takes. */
const restOfListing = 20;
/** Steps a second of a stepped board, until a page says otherwise. */
const firstStepsPerSecond = 25;

/** A page that is open, and what it wants. */
interface Wish {
  paused: boolean;
  why: number | undefined;
}

/**
 * `hca watch`: serves a page that shows a board live, to browsers of this machine, until it is interrupted. A board of this command alone gets a
 * ping-pong to look at, and, stepped, goes as slowly as the page says. Without a page that looks it costs the board nothing. JSON: {address}.
 */
export async function watch(
  output: Output,
  deviceString: string,
  { port }: WatchOptions,
  scope: Scope,
): Promise<void> {
  const { signal } = scope;
  const watching = watchingOf(deviceString, scope);
  const server = scope.hold(await PageServer.listen(port, watching), (held) => held.close());
  scope.hold(watching, () => watching.close());
  output.value({ address: server.address });
  output.text(`${deviceString}: ${server.address}\nOpen it in a browser of this machine; Ctrl+C ends it\n`);
  if (signal.aborted) return;
  await Promise.race([once(signal, 'abort'), watching.failed]);
}

function watchingOf(deviceString: string, scope: Scope): Watching {
  const name = parseDeviceString(deviceString);
  if (name.backend === 'emu' && name.options.name === undefined)
    return watchingOwn(deviceString, name, scope);
  const expected =
    '--device serve:NAME, as hca list shows it; or --device emu:, a board with a ping-pong of its own';
  const observer = observe(scope, deviceString, 'commands', expected);
  return new Watching(deviceString, new Sight(observer, observedFunctions(scope, deviceString)), undefined);
}

function watchingOwn(
  deviceString: string,
  { options, underlyingFunction }: Extract<DeviceName, { backend: 'emu' | 'rtl' }>,
  scope: Scope,
): Watching {
  const own = new OwnBoard(options, scope, firstStepsPerSecond);
  const observer = scope.use(new Observer(own.board.observe(underlyingFunction)));
  const { underlyingFunctions } = observer.device.identity;
  const all = Array.from({ length: underlyingFunctions }, (_, number) => number);
  const functions = (underlyingFunction === 0 ? all : [underlyingFunction]).map((number) => {
    const device = new DeviceFunction(own.board.observe(number));
    return scope.hold(device, () => device.close());
  });
  return new Watching(deviceString, new Sight(observer, functions), own);
}

/** The pages, and what is sent to them. */
class Watching implements PageListener {
  /** Rejects when the board is gone. */
  readonly failed: Promise<never>;
  private readonly device: string;
  private readonly sight: Sight;
  private readonly own: OwnBoard | undefined;
  private readonly wishes = new Map<Page, Wish>();
  private fail!: (reason: unknown) => void;
  private timer: NodeJS.Timeout | undefined;
  private looks = 0;
  private lastLook = 0;
  private nextListing = 0;

  constructor(device: string, sight: Sight, own: OwnBoard | undefined) {
    this.device = device;
    this.sight = sight;
    this.own = own;
    this.failed = new Promise<never>((_, reject) => (this.fail = reject));
    this.failed.catch(() => undefined);
  }

  opened(page: Page): void {
    this.wishes.set(page, { paused: false, why: undefined });
    page.send(this.sight.board(this.device, this.own?.isStepped === true));
    this.nextListing = 0;
    this.follow();
  }

  asked(page: Page, text: string): boolean {
    const request = parseRequest(text);
    const wish = this.wishes.get(page);
    if (request === undefined || wish === undefined) return false;
    switch (request.kind) {
      case 'pause':
        wish.paused = request.paused;
        this.follow();
        return true;
      case 'why':
        wish.why = request.number;
        return true;
      case 'pace':
      case 'step':
        if (this.own?.isStepped !== true) return false;
        if (request.kind === 'pace') this.own.pace = request.stepsPerSecond;
        else this.own.step(request.steps);
        return true;
    }
  }

  closed(page: Page): void {
    this.wishes.delete(page);
    this.follow();
  }

  close(): void {
    this.wishes.clear();
    this.follow();
  }

  /** Watches while a page looks. */
  private follow(): void {
    const isWanted = [...this.wishes.values()].some(({ paused }) => !paused);
    if (isWanted === (this.timer !== undefined)) return;
    clearInterval(this.timer);
    this.timer = undefined;
    if (isWanted) {
      this.attempt(() => this.sight.begin());
      this.lastLook = performance.now();
      this.timer = setInterval(() => this.attempt(() => this.look()), pace);
    } else this.sight.end();
  }

  /** Ends it with a board that is gone. */
  private attempt(body: () => void): void {
    try {
      body();
    } catch (error) {
      clearInterval(this.timer);
      const reason = error instanceof Error ? error.message : String(error);
      this.tell({ kind: 'end', reason });
      this.fail(error);
    }
  }

  private look(): void {
    const { own, sight } = this;
    const now = performance.now();
    own?.goOn(now - this.lastLook);
    this.lastLook = now;
    this.looks += 1;
    this.tell(sight.takeWays());
    const events = sight.takeEvents();
    if (events !== undefined) this.tell(events);
    if (own?.isStepped === true) this.tell(sight.state({ virtualTime: own.time, pace: own.pace }));
    else if (this.looks % looksOfState === 0) this.tell(sight.state());
    if (now >= this.nextListing) {
      this.tell(sight.queuePairs());
      this.nextListing = now + Math.max(looksOfQueuePairs * pace, restOfListing * (performance.now() - now));
    }
    if (this.looks % looksOfState === 0) this.answerWhy();
  }

  private tell(message: PageMessage): void {
    for (const [page, { paused }] of this.wishes) if (!paused) page.send(message);
  }

  private answerWhy(): void {
    for (const [page, { paused, why }] of this.wishes)
      if (why !== undefined && !paused) page.send(this.sight.why(why));
  }
}
