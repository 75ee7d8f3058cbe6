// Ten minutes of device time of a ping-pong that a page, `hca top`, `hca kicks`, `hca events` and a slow observer watch: SEED TEST_ADDON.
// Prints the records that the device wrote, those that each observer took and lost, and at the end of each minute the memory of the process.
// It runs alone in its process with --expose-gc; see watched_memory.slow.test.ts.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { argv } from 'node:process';

const lib = new URL('../../dist/lib/', import.meta.url);
const { Completion, CompletionStatus, Opcode, openDevice } = await import(new URL('index.js', lib).href);
const { EmulatedBoard } = await import(new URL('board/index.js', lib).href);
const { addressOf, connectQueuePair } = await import(new URL('connect/index.js', lib).href);
const { DeviceFunction } = await import(new URL('driver/device_function.js', lib).href);
const { Observer } = await import(new URL('driver/observer.js', lib).href);
const { readOccupancy } = await import(new URL('driver/occupancy.js', lib).href);
const { CounterSample } = await import(new URL('watch/counter_sample.js', lib).href);
const { Rates, countersOfRates, functionRates, portRates } = await import(
  new URL('watch/rates.js', lib).href
);
const { Sight } = await import(new URL('watch/sight.js', lib).href);
const { allocatedBytes } = createRequire(import.meta.url)(argv[3]);

const minutes = 10;
const looksASecond = 10;
const roundTripsALook = 10;
const recordBytes = 64;
const beyondCommand = 320; // offset in a virtual collect buffer: the device refuses a write there, and raises an event

/** A random pause before each round trip, up to twice the mean; xorshift. */
let random = Number(argv[2]) | 1;
const pause = (mean) => {
  random ^= random << 13;
  random ^= random >>> 17;
  random ^= random << 5;
  return Math.floor(((random >>> 0) / 2 ** 32) * 2 * mean);
};

const board = new EmulatedBoard({ progress: 'stepped', seed: Number(argv[2]) });

/** A function with a queue pair. */
class Station {
  completions = [new Completion()];

  constructor(number) {
    this.context = openDevice(board.open(number));
    const domain = this.context.createProtectionDomain();
    this.completionQueue = this.context.createCompletionQueue({ entries: 64 });
    this.queuePair = domain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: this.completionQueue,
      receiveCompletionQueue: this.completionQueue,
    });
    this.memory = domain.allocate(4096).slice(0, 64);
    this.address = addressOf(this.context, this.queuePair);
  }

  complete() {
    while (this.completionQueue.poll(this.completions) === 0) board.runUntilIdle();
    if (this.completions[0].status !== CompletionStatus.success) throw new Error('a work request failed');
  }
}

const control = openDevice(board.open(0));
const [one, two] = [new Station(1), new Station(2)];
connectQueuePair(one.queuePair, one.address, two.address);
connectQueuePair(two.queuePair, two.address, one.address);

function send(from, to) {
  to.queuePair.postReceive({ wrId: 1, scatter: [to.memory] });
  from.queuePair.postSend({ wrId: 2, opcode: Opcode.send, gather: [from.memory], signaled: true });
  to.complete();
  from.complete();
}

function refuse({ context }) {
  const { bar } = context.driver.device.virtualCollectBufferRegion;
  const [buffer] = context.driver.virtualCollectBuffers.all;
  const offset = buffer.offset + beyondCommand;
  board.post({ underlyingFunction: 1, bar, offset, data: new Uint8Array(8) });
  board.runUntilIdle();
  buffer.cancel();
  board.runUntilIdle();
}

const numbers = Array.from(
  { length: control.queryDevice().identity.underlyingFunctions },
  (_, number) => number,
);
const functions = () => numbers.map((number) => new DeviceFunction(board.observe(number)));
const page = new Sight(new Observer(board.observe(0)), functions());
const top = functions();
const kicks = new Observer(board.observe(0)).watchKicks();
const events = new Observer(board.observe(0)).watchEvents();
const slow = new Observer(board.observe(1)).device.board.watch('kicks');
const slowBytes = new Uint8Array(4096 * recordBytes);
const seen = { commands: 0, events: 0, page: 0, pageLost: 0, pageEvents: 0, kicks: 0, followed: 0, slow: 0 };
let sampleBefore;

function lookAsPage(isOdd) {
  const { kicks: taken, lost } = page.takeWays();
  seen.page += taken;
  seen.pageLost = lost;
  seen.pageEvents += page.takeEvents()?.events.length ?? 0;
  if (isOdd) page.state();
}

function lookAsTop() {
  const sample = new CounterSample(top, countersOfRates);
  const rates = new Rates(sample, sampleBefore);
  sampleBefore = sample;
  for (const each of readOccupancy(top[0])) functionRates(rates, each);
  portRates(rates, top[0].identity.ports);
}

function lookSlowly() {
  for (let bytes = slow.take(slowBytes); bytes > 0; bytes = slow.take(slowBytes))
    seen.slow += bytes / recordBytes;
}

function memory() {
  for (let times = 0; times < 3; times++) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  const rings = readFileSync('/proc/self/maps', 'utf8').match(/memfd:fpga-verbs-watch/g)?.length ?? 0;
  return { heap: heapUsed + external, allocated: allocatedBytes(), resident: rss, rings };
}

const ticksOfRoundTrip = control.queryDevice().identity.clockFrequency / (looksASecond * roundTripsALook);
const begin = board.now();
const memories = [];
page.begin();
for (let minute = 0; minute < minutes; minute++) {
  for (let second = 0; second < 60; second++) {
    for (let look = 0; look < looksASecond; look++) {
      for (let times = 0; times < roundTripsALook; times++) {
        board.advanceTime(pause(ticksOfRoundTrip));
        send(one, two);
        send(two, one);
        seen.commands += 2;
      }
      lookAsPage(look % 2 === 1);
      seen.kicks += kicks.take().length;
      seen.followed += events.take().length;
    }
    refuse(one);
    seen.events += 1;
    page.queuePairs();
    lookAsTop();
  }
  if (minute === 0 || minute === minutes - 1) lookSlowly();
  memories.push(memory());
}
lookAsPage(false);
seen.kicks += kicks.take().length;
seen.followed += events.take().length;
const seconds = (Number(board.now()) - Number(begin)) / control.queryDevice().identity.clockFrequency;
console.log(
  JSON.stringify({
    seen,
    seconds,
    lost: { kicks: kicks.lost, events: events.lost, slow: slow.lost() },
    memories,
  }),
);
