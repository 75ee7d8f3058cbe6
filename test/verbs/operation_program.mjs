// Posts and polls a million operations, and prints the growth of its heap and the number of garbage collections.
import { PerformanceObserver } from 'node:perf_hooks';

const { Completion, Opcode, openDevice } = await import(
  new URL('../../dist/lib/index.js', import.meta.url).href
);
const { Connection } = await import(new URL('../../dist/lib/connect/index.js', import.meta.url).href);

const operations = Number(process.argv[2]);
const context = openDevice('emu:?queuePairs=16&pageTableEntries=1024');
const connection = new Connection(context);
connection.connect(connection.address);
const { queuePair, completionQueue } = connection;
const memory = connection.allocate(4096);
const slice = memory.slice(0, 64);
const write = { opcode: Opcode.rdmaWrite, gather: [slice], remote: memory.remote(), wrId: 0 };
const inline = { opcode: Opcode.send, inlineData: new Uint8Array(32), wrId: 0 };
const batch = [write, { ...inline, immediateData: 5, opcode: Opcode.sendWithImmediate }];
const receive = { scatter: [slice], wrId: 0 };
const receives = [receive, receive];
const completions = Array.from({ length: 16 }, () => new Completion());
const sum = new Float64Array(1); // a plain variable would create garbage each time

function take(count) {
  for (let left = count; left > 0;) {
    const taken = completionQueue.poll(completions);
    for (let index = 0; index < taken; index++) sum[0] += completions[index].wrId;
    left -= taken;
  }
}

/** Eight work requests per turn, and their completions. */
function run(count) {
  for (let done = 0; done < count; done += 8) {
    write.wrId = done;
    receive.wrId = done + 1;
    queuePair.postReceive(receive);
    queuePair.postReceive(receives);
    queuePair.postSend(write);
    queuePair.postSend(inline);
    queuePair.postSend(batch);
    queuePair.postSend(inline);
    take(8);
  }
}

run(100_000); // until the loop is compiled
globalThis.gc();
let collections = 0;
const observer = new PerformanceObserver((list) => (collections += list.getEntries().length));
await new Promise((resolve) => setTimeout(resolve, 10));
observer.observe({ entryTypes: ['gc'] });
const before = process.memoryUsage().heapUsed;
run(operations);
const grown = process.memoryUsage().heapUsed - before;
collections += observer.takeRecords().length;
await new Promise((resolve) => setTimeout(resolve, 10));
process.stdout.write(JSON.stringify({ grown, collections, sum: sum[0] }));
connection.close();
context.close();
