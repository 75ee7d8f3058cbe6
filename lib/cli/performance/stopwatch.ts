/** Extent of a measurement: a number of messages, or seconds. */
export type Extent = { readonly iterations: number } | { readonly seconds: number };

/** Measures the time from each message to the next. */
export class Stopwatch {
  stopped = false;
  /** Messages that have ended. */
  laps = 0;
  /** Nanoseconds of each message; empty in a run of a fixed duration. */
  readonly samples: Float64Array;
  private readonly iterations: number;
  private readonly duration: number;
  private begin = 0;
  private last = 0;
  private begun = false;

  constructor(extent: Extent) {
    this.iterations = 'iterations' in extent ? extent.iterations : Infinity;
    this.duration = 'seconds' in extent ? extent.seconds * 1000 : Infinity;
    this.samples = new Float64Array('iterations' in extent ? extent.iterations : 0);
    this.stopped = this.iterations === 0;
  }

  /** Ends the message before, if any, and begins another, unless the watch has stopped. */
  lap(): void {
    const now = performance.now();
    if (!this.begun) {
      this.begun = true;
      this.begin = now;
    } else {
      if (this.laps < this.samples.length) this.samples[this.laps] = (now - this.last) * 1e6;
      this.laps += 1;
      this.stopped = this.laps >= this.iterations || now - this.begin >= this.duration;
    }
    this.last = now;
  }

  /** Milliseconds from the first message to the end of the last. */
  get elapsed(): number {
    return this.last - this.begin;
  }
}
