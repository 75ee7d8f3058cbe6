// Opens and closes a device again and again, and prints the resources of the process after the first fifth and at the end.
import { holdings } from './holdings.mjs';

const { Completion, Opcode, QueuePairState, openDevice } = await import(
  new URL('../../dist/lib/index.js', import.meta.url).href
);

const [times, progress, way] = process.argv.slice(2);
const device = `emu:?progress=${progress}&queuePairs=16&pageTableEntries=1024&memoryKeys=64&completionQueues=16`;
const foreign = new Uint8Array(5000);
const completion = [new Completion()];

/** Uses each purpose of an open device once. */
function use() {
  const context = openDevice(device);
  const protectionDomain = context.createProtectionDomain();
  const completionQueue = context.createCompletionQueue({ entries: 16 });
  const queuePair = protectionDomain.createQueuePair({
    type: 'RC',
    sendCompletionQueue: completionQueue,
    receiveCompletionQueue: completionQueue,
    capabilities: { maxSendWorkRequests: 16, maxReceiveWorkRequests: 16 },
  });
  const own = protectionDomain.allocate(5000);
  const region = protectionDomain.registerMemory(foreign);
  queuePair.modify({ state: QueuePairState.error });
  queuePair.postSend({ opcode: Opcode.send, gather: [region.slice()] });
  while (completionQueue.poll(completion) === 0);
  if (way === 'dispose') {
    context[Symbol.dispose]();
    return;
  }
  for (const object of [queuePair, region, own, completionQueue, protectionDomain, context]) object.close();
}

async function run(count) {
  for (let index = 1; index <= count; index++) {
    use();
    if (index % 50 === 0) await new Promise(setImmediate);
  }
}

await run(Number(times) / 5); // until the runtime has allocated what it needs
const early = await holdings();
await run((Number(times) * 4) / 5);
process.stdout.write(JSON.stringify({ early, late: await holdings() }));
