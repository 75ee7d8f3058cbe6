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
    units: 1,
    operate: (here, there) => {
      there.queuePair.postReceive({ wrId: 1, scatter: [there.target] });
      here.queuePair.postSend({ wrId: 2, opcode: Opcode.send, gather: [here.source], signaled: true });
      there.complete();
      here.complete();
    },
  },
  prepared_send: {
    units: 1,
    operate: (here, there) => {
      there.preparedReceive.post();
      here.preparedSend.post();
      there.complete();
      here.complete();
    },
  },
  write_batch: {
    units: batch,
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
  empty_poll: {
    units: 1,
    operate: (here) => {
      here.completionQueue.poll(here.completions);
    },
  },
};

const { operate } = operations[argv[2]];
const fabric = new EmulatedFabric();
const [one, other] = [new Station(fabric), new Station(fabric)];
one.connect(other);
other.connect(one);
const times = Number(argv[3]);
for (let time = 0; time < times; time += 1) {
  if (time % 2 === 0) operate(one, other);
  else operate(other, one);
}
fabric.close();
