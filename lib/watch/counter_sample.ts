import { readCounters, type Counter } from '../driver/counters.ts';
import type { DeviceFunction } from '../driver/device_function.ts';

/** Counters of some functions, and when they were read. */
export class CounterSample {
  readonly counters: readonly Counter[];
  /** Milliseconds. */
  readonly time: number;

  constructor(functions: readonly DeviceFunction[], wanted?: readonly string[]) {
    this.time = performance.now();
    this.counters = functions.flatMap((each) => readCounters(each, wanted));
  }

  /** Counts a second since another sample of the same counters, which is older; a counter that was reset has none. */
  rateSince(before: CounterSample, counter: number): number | undefined {
    const more = Number(this.counters[counter]!.value - before.counters[counter]!.value);
    const seconds = (this.time - before.time) / 1000;
    return more < 0 || seconds <= 0 ? undefined : more / seconds;
  }
}
