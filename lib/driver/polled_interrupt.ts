import type { Interrupt } from '../board/addon.ts';

/** Milliseconds between two looks. */
const period = 1;

/** In the place of an interrupt where a function has no vectors: looks, while it is referenced. */
export class PolledInterrupt implements Interrupt {
  private readonly look: () => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(look: () => void) {
    this.look = look;
  }

  ref(): void {
    this.timer ??= setInterval(this.look, period);
  }

  unref(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  close(): void {
    this.unref();
  }
}
