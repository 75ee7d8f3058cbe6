import { parseRequest, type PageMessage } from './frames.ts';
import type { Page, PageListener } from './page_server.ts';
import type { Sight } from './sight.ts';

/** Milliseconds between two looks at the rings; the registers are read at every second look. */
const pace = 100;
const looksOfState = 2;
const looksOfQueuePairs = 10;
/** Between two listings of the queue pairs: so many times as long as one takes. */
const restOfListing = 20;

/** A page that is open, and what it wants. */
interface Wish {
  paused: boolean;
  why: number | undefined;
}

/** A board of this program that advances only on request. */
export interface Driven {
  /** The pages set its pace and ask for steps. */
  readonly isStepped: boolean;
  /** Steps a second. */
  pace: number;
  /** Device clock, nanoseconds. */
  readonly time: number;
  /** Lets it go on for as long as has passed. */
  goOn(milliseconds: number): void;
  /** Does so many steps now. */
  step(count: number): void;
}

/** The pages, and what is sent to them. */
export class Watching implements PageListener {
  /** Rejects when the board is gone. */
  readonly failed: Promise<never>;
  private readonly device: string;
  private readonly sight: Sight;
  private readonly driven: Driven | undefined;
  private readonly wishes = new Map<Page, Wish>();
  private fail!: (reason: unknown) => void;
  private timer: NodeJS.Timeout | undefined;
  private looks = 0;
  private lastLook = 0;
  private nextListing = 0;

  /**
   * @param device what the pages call the board
   * @param driven undefined: the board goes on by itself
   */
  constructor(device: string, sight: Sight, driven: Driven | undefined) {
    this.device = device;
    this.sight = sight;
    this.driven = driven;
    this.failed = new Promise<never>((_, reject) => (this.fail = reject));
    this.failed.catch(() => undefined);
  }

  opened(page: Page): void {
    this.wishes.set(page, { paused: false, why: undefined });
    page.send(this.sight.board(this.device, this.driven?.isStepped === true));
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
        if (this.driven?.isStepped !== true) return false;
        if (request.kind === 'pace') this.driven.pace = request.stepsPerSecond;
        else this.driven.step(request.steps);
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
    const { driven, sight } = this;
    const now = performance.now();
    driven?.goOn(now - this.lastLook);
    this.lastLook = now;
    this.looks += 1;
    this.tell(sight.takeWays());
    const events = sight.takeEvents();
    if (events !== undefined) this.tell(events);
    if (driven?.isStepped === true) this.tell(sight.state({ virtualTime: driven.time, pace: driven.pace }));
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
