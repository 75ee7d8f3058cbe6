// Resources that this process holds. Needs --expose-gc.
import { readFileSync, readdirSync } from 'node:fs';

/** Lets the event loop close its handles, and collects garbage until the heap no longer shrinks. */
export async function holdings() {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise(setImmediate);
    globalThis.gc();
  }
  const count = (directory) => readdirSync(`/proc/self/${directory}`).length;
  const [, resident] = readFileSync('/proc/self/statm', 'utf8').split(' ').map(Number);
  return {
    residentBytes: resident * 4096,
    heapBytes: process.memoryUsage().heapUsed,
    descriptors: count('fd'),
    threads: count('task'),
    mappings: readFileSync('/proc/self/maps', 'utf8').split('\n').length,
  };
}
