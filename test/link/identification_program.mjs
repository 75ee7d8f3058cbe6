// A board with an unreliable datagram queue pair on a UDP link receives packets from peers on the loopback interface, which write their own
// IPv4 headers, phase by phase. Prints the number of datagrams received in each phase, in order.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const library = (name) => import(new URL(`../../dist/lib/${name}.js`, import.meta.url).href);
const { Completion, CompletionStatus, QueuePairState, openDevice } = await library('index');

const address = '127.0.0.1';
const queueKey = 0x1111_1111;
const slotBytes = 128;
const slots = 256;

const context = openDevice(`emu:?queuePairs=64&pageTableEntries=65536&memoryKeys=256&link=udp:${address}`);
const protectionDomain = context.createProtectionDomain();
const completionQueue = context.createCompletionQueue({ entries: slots });
const queuePair = protectionDomain.createQueuePair({
  type: 'UD',
  sendCompletionQueue: completionQueue,
  receiveCompletionQueue: completionQueue,
  capabilities: { maxReceiveWorkRequests: slots },
});
queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, queueKey });
queuePair.modify({ state: QueuePairState.readyToReceive });
const region = protectionDomain.allocate(slots * slotBytes);
const post = (slot) =>
  queuePair.postReceive({ wrId: slot, scatter: [region.slice(slot * slotBytes, slotBytes)] });
for (let slot = 0; slot < slots; slot += 1) post(slot);

// Each phase ends with a datagram of immediate data; the next phase begins when it has arrived.
const peer = spawn(
  'python3',
  [fileURLToPath(new URL('identification_peer.py', import.meta.url)), address, String(queuePair.number)],
  {
    stdio: ['pipe', 'pipe', 'inherit'],
  },
);
const completions = Array.from({ length: 32 }, () => new Completion());
const counts = [];
let received = 0;
while (counts.length < Number(process.argv[2])) {
  if (received === 0) peer.stdin.write('next\n');
  let hasEnded = false;
  while (!hasEnded) {
    await completionQueue.wait({ timeout: 60_000 });
    const count = completionQueue.poll(completions);
    for (const { wrId, status, withImmediate } of completions.slice(0, count)) {
      if (status !== CompletionStatus.success) throw new Error(`a receive failed: ${status}`);
      if (withImmediate) hasEnded = true;
      else received += 1;
      post(wrId);
    }
  }
  counts.push(received);
  received = 0;
}
peer.stdin.end();
console.log(JSON.stringify(counts));
context[Symbol.dispose]();
