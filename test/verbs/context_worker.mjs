// Uses a context that another thread shares, in the way that its argument names.
import { parentPort, workerData } from 'node:worker_threads';

const { Completion, Context, Opcode } = await import(
  new URL('../../dist/lib/index.js', import.meta.url).href
);
const { Connection } = await import(new URL('../../dist/lib/connect/index.js', import.meta.url).href);

const { token, way } = workerData;
const context = Context.from(token);

const ways = {
  /** Echoes the messages of the peer until it sends none. */
  async echoes() {
    const connection = new Connection(context);
    parentPort.postMessage(connection.address);
    const [peer] = await new Promise((resolve) => parentPort.once('message', (...peers) => resolve(peers)));
    connection.connect(peer);
    const memory = connection.allocate(4096);
    let received = connection.receive(memory.slice());
    parentPort.postMessage(context.queryDevice().underlyingFunction);
    for (;;) {
      const { byteLength } = await received;
      if (byteLength === 0) break;
      const copy = memory.bytes.slice(0, byteLength);
      received = connection.receive(memory.slice());
      await connection.send(copy);
    }
    connection.close();
    context.close();
  },
  /** Waits for a completion that never arrives. */
  async waits() {
    const wait = context.createCompletionQueue().wait();
    parentPort.postMessage('ready');
    await wait;
  },
  /** Posts to itself and polls, endlessly. */
  posts() {
    const connection = new Connection(context);
    connection.connect(connection.address);
    const memory = connection.allocate(4096);
    const request = { opcode: Opcode.rdmaWrite, gather: [memory.slice()], remote: memory.remote() };
    const completions = Array.from({ length: 16 }, () => new Completion());
    const { queuePair, completionQueue } = connection;
    parentPort.postMessage('ready');
    for (let under = 0; ; under -= completionQueue.poll(completions)) {
      for (; under < 64; under++) queuePair.postSend(request);
    }
  },
};
await ways[way]();
