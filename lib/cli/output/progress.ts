/** Milliseconds after which a run is long, and between two lines. */
const pace = 1000;

/** Tells on the error stream how far a long run is: on a terminal in one line that changes, elsewhere in a line each. */
export class Progress {
  private readonly write: ((text: string) => void) | undefined;
  private readonly isTerminal: boolean;
  private readonly clock: () => number;
  private told: number;
  private width = 0; // of the line that stands on the terminal

  /** @param write undefined: it is not told @param clock milliseconds */
  constructor(
    write: ((text: string) => void) | undefined,
    isTerminal: boolean,
    clock = (): number => performance.now(),
  ) {
    this.write = write;
    this.isTerminal = isTerminal;
    this.clock = clock;
    this.told = clock();
  }

  /** @param text is asked for when it is told, a second after the last time at the earliest */
  tell(text: () => string): void {
    if (this.write === undefined) return;
    const now = this.clock();
    if (now - this.told < pace) return;
    this.told = now;
    const line = text();
    this.write(this.isTerminal ? `\r${line.padEnd(this.width)}` : `${line}\n`);
    this.width = Math.max(this.width, line.length);
  }

  /** Before something else is written: the line is taken away. */
  clear(): void {
    if (this.width > 0 && this.isTerminal) this.write?.(`\r${' '.repeat(this.width)}\r`);
    this.width = 0;
  }
}
