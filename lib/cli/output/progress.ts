/** Milliseconds until the first report, and between two lines. */
const pace = 1000;

/** Reports the progress of a long run on the error stream: on a terminal in one line that changes, elsewhere in a line each. */
export class Progress {
  private readonly write: ((text: string) => void) | undefined;
  private readonly isTerminal: boolean;
  private readonly clock: () => number;
  private told: number;
  private width = 0; // of the line on the terminal

  /** @param write undefined: no reports @param clock milliseconds */
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

  /** @param text called for a report, at most once a second */
  tell(text: () => string): void {
    if (this.write === undefined) return;
    const now = this.clock();
    if (now - this.told < pace) return;
    this.told = now;
    const line = text();
    this.write(this.isTerminal ? `\r${line.padEnd(this.width)}` : `${line}\n`);
    this.width = Math.max(this.width, line.length);
  }

  /** Removes the line, before other output. */
  clear(): void {
    if (this.width > 0 && this.isTerminal) this.write?.(`\r${' '.repeat(this.width)}\r`);
    this.width = 0;
  }
}
