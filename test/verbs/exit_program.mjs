// Ends in the way that its first argument names, on a board with the progress of the second.
import { Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

const { Completion, Opcode, openDevice } = await import(
  new URL('../../dist/lib/index.js', import.meta.url).href
);
const { Connection } = await import(new URL('../../dist/lib/connect/index.js', import.meta.url).href);

const [way, progress] = process.argv.slice(2);
const context = openDevice(`emu:?progress=${progress}&queuePairs=64&pageTableEntries=4096`);
const connection = new Connection(context);
connection.connect(connection.address);
const { completionQueue, queuePair } = connection;
const memory = connection.allocate(1 << 20);
connection.protectionDomain.registerMemory(new Uint8Array(5000));
const write = { opcode: Opcode.rdmaWrite, gather: [memory.slice()], remote: memory.remote() };

/** Fills the send queue with long messages, so that the thread that advances the board is in the middle of them. */
function traffic() {
  queuePair.postSend(Array.from({ length: 100 }, () => write));
}

async function shareWith(wayOfWorker) {
  const program = fileURLToPath(new URL('context_worker.mjs', import.meta.url));
  const worker = new Worker(program, { workerData: { token: context.share(), way: wayOfWorker } });
  await new Promise((resolve) => worker.once('message', resolve));
}

const ways = {
  'exits in a wait': () => {
    void completionQueue.wait();
    setImmediate(() => process.exit(7));
  },
  'exits in traffic': () => {
    traffic();
    process.exit(7);
  },
  'exits while a worker posts': async () => {
    await shareWith('posts');
    traffic();
    process.exit(7);
  },
  'exits while a worker waits': async () => {
    await shareWith('waits');
    process.exit(7);
  },
  'exits in a callback of a wait': async () => {
    queuePair.postSend({ opcode: Opcode.rdmaWrite, inlineData: new Uint8Array(8), remote: memory.remote() });
    while (completionQueue.poll([new Completion()]) === 0);
    void completionQueue.wait().then(() => process.exit(7));
    queuePair.postSend({ opcode: Opcode.rdmaWrite, inlineData: new Uint8Array(8), remote: memory.remote() });
    // A stepped board works only during calls.
    for (let turn = 0; turn < 1000; turn++) {
      context.queryPort();
      await new Promise(setImmediate);
    }
  },
  'ends with all open': () => traffic(),
  'ends with all closed': () => {
    traffic();
    context[Symbol.dispose]();
  },
  'ends after its wait': async () => {
    await completionQueue.wait({ timeout: 5 }).catch(() => {});
  },
  'throws in traffic': () => {
    traffic();
    throw new Error('enough');
  },
};
await ways[way]();
