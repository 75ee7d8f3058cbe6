// Uses an emulated board in a worker or in a process of its own, in the way that its argument names.
import { createRequire } from 'node:module';
import { argv } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';

const { addonPath, options, way } = workerData ?? JSON.parse(argv[2]);
const { EmulatedBoard } = createRequire(import.meta.url)(addonPath);
const vcbBar = 2;

const board = new EmulatedBoard(options);
const opened = board.open(0);
const memory = opened.allocateMemory(4096);
const { write } = opened.commandWriter(memory, vcbBar);
const interrupt = opened.interrupt(0, () => undefined);

const ways = {
  /** Waits for an interrupt that does not come. */
  waits() {
    interrupt.ref();
  },
  /** Posts and reads without end. */
  posts() {
    for (;;) {
      write(0, 0, 64);
      opened.read32(0, 0);
    }
  },
  /** Ends with everything open. */
  exits() {
    interrupt.ref();
    process.exit(7);
  },
  /** Reaches its end with everything open and no pending wait. */
  ends() {
    write(0, 0, 64);
  },
};
parentPort?.postMessage('ready');
ways[way]();
