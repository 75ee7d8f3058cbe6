// The cost of a plain application loop in JavaScript, for a tool that counts instructions: OPERATION TIMES. Two boards of one fabric; one
// thread posts and polls on both. See scripts/instruction_counts.mjs.
import { argv } from 'node:process';

const { Access, Completion, CompletionStatus, Opcode, openDevice } = await import(
  new URL('../../dist/lib/index.js', import.meta.url).href
);
const { EmulatedFabric } = await import(new URL('../../dist/lib/board/index.js', import.meta.url).href);
const { addressOf, connectQueuePair } = await import(
  new URL('../../dist/lib/connect/index.js', import.meta.url).href
);
const messageBytes = 64;
const batch = 16;
/** The times that are counted are multiples of it. */
const repetitions = 1000;

/** A board with a queue pair. */
class Station {
  constructor(fabric) {
    const context = openDevice(fabric.makeBoard().open());
    const protectionDomain = context.createProtectionDomain();
    this.completionQueue = context.createCompletionQueue({ entries: 256 });
    this.queuePair = protectionDomain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: this.completionQueue,
      receiveCompletionQueue: this.completionQueue,
    });
    this.address = addressOf(context, this.queuePair);
    const access = Access.localWrite | Access.remoteWrite;
    this.region = protectionDomain.allocate(4096, access);
    this.source = this.region.slice(0, messageBytes);
    this.target = this.region.slice(2048, messageBytes);
    this.completions = [new Completion()];
  }

  connect(peer) {
    connectQueuePair(this.queuePair, this.address, peer.address);
    this.remote = peer.region.remote(2048, messageBytes);
  }

  prepare() {
    this.preparedReceive = this.queuePair.prepareReceive({ wrId: 1, scatter: [this.target] });
    this.preparedSend = this.queuePair.prepareSend({
      wrId: 2,
      opcode: Opcode.send,
      gather: [this.source],
      signaled: true,
    });
  }

  complete() {
    while (this.completionQueue.poll(this.completions) === 0);
    if (this.completions[0].status !== CompletionStatus.success) throw new Error('a work request failed');
  }
}

/** By name; each executes one unit this many times. */
const operations = {
  send: {
    operate: (here, there) => {
      there.queuePair.postReceive({ wrId: 1, scatter: [there.target] });
      here.queuePair.postSend({ wrId: 2, opcode: Opcode.send, gather: [here.source], signaled: true });
      there.complete();
      here.complete();
    },
  },
  prepared_send: {
    prepare: (station) => station.prepare(),
    operate: (here, there) => {
      there.preparedReceive.post();
      here.preparedSend.post();
      there.complete();
      here.complete();
    },
  },
  write_batch: {
    operate: (here) => {
      const requests = [];
      for (let at = 1; at <= batch; at += 1)
        requests.push({
          wrId: at,
          opcode: Opcode.rdmaWrite,
          gather: [here.source],
          remote: here.remote,
          signaled: at === batch,
        });
      here.queuePair.postSend(requests);
      here.complete();
    },
  },
  spread_batch: {
    operate: (here) => {
      const common = { opcode: Opcode.rdmaWrite, gather: [here.source], remote: here.remote };
      const requests = [];
      for (let at = 1; at <= batch; at += 1) requests.push({ wrId: at, signaled: at === batch, ...common });
      here.queuePair.postSend(requests);
      here.complete();
    },
  },
  empty_poll: {
    operate: (here) => {
      here.completionQueue.poll(here.completions);
    },
  },
};

/** A loop in a function, because V8 leaves one outside of functions to its baseline compiler for long. */
function repeat(operate, one, other) {
  let [here, there] = [one, other];
  for (let time = 0; time < repetitions; time += 1) {
    operate(here, there);
    const next = there;
    there = here;
    here = next;
  }
}

const { prepare, operate } = operations[argv[2]];
const fabric = new EmulatedFabric();
const [one, other] = [new Station(fabric), new Station(fabric)];
one.connect(other);
other.connect(one);
for (const station of [one, other]) prepare?.(station);
for (let times = Number(argv[3]); times > 0; times -= repetitions) repeat(operate, one, other);
fabric.close();
