// Hello, verbs: a queue pair, connected to itself, sends itself a message. One board is enough; each step of a verbs program
// occurs once.
//
// Run it: node dist/examples/hello-verbs.js
import { Completion, CompletionStatus, Opcode, openDevice } from 'fpga-verbs';
import { addressOf, connectQueuePair } from 'fpga-verbs/connect';

const device = openDevice('emu:');
const domain = device.createProtectionDomain();
const completionQueue = device.createCompletionQueue({ entries: 16 });
const queuePair = domain.createQueuePair({
  type: 'RC',
  sendCompletionQueue: completionQueue,
  receiveCompletionQueue: completionQueue,
});
const here = addressOf(device, queuePair);
connectQueuePair(queuePair, here, here);

const region = domain.allocate(4096); // memory that the device can reach
const [message, buffer] = [region.slice(0, 13), region.slice(2048, 64)];
region.bytes.set(new TextEncoder().encode('Hello, verbs!'));
queuePair.postReceive({ wrId: 1, scatter: [buffer] });
queuePair.postSend({ wrId: 2, opcode: Opcode.send, gather: [message], signaled: true });

const completion = new Completion();
for (let done = 0; done < 2;) {
  if (completionQueue.poll([completion]) === 0) continue;
  const ended = completion.status === CompletionStatus.success ? 'done' : `failed: ${completion.status}`;
  console.log(`work request ${completion.wrId} ${ended}, ${completion.byteLength} B`);
  done += 1;
}
console.log(new TextDecoder().decode(region.bytes.subarray(2048, 2048 + 13)));
device[Symbol.dispose](); // closes all objects created from it, newest first
