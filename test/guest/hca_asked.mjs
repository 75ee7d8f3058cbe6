// Runs in the guest: waits on the device of the first argument until the removal of the device is announced, and stays alive. Creates
// /host/working when a write has arrived, and /host/ended with the event, the error that ended the wait, and the byte that its memory still
// has.
import { writeFileSync } from 'node:fs';

import { LoopedQueuePair } from '../../dist/lib/cli/looped_queue_pair.js';
import { Opcode, openDevice } from '../../dist/lib/index.js';

const context = openDevice(process.argv[2]);
const { queuePair, completionQueue, memory } = new LoopedQueuePair(context, { entries: 4, inlineBytes: 64 });
const remote = memory.remote();
queuePair.postSend({
  opcode: Opcode.rdmaWrite,
  inlineData: new Uint8Array(64).fill(7),
  remote,
  signaled: true,
});
try {
  for await (const { status } of completionQueue) writeFileSync('/host/working', `${status}`);
} catch (error) {
  const { name } = context.pollEvent() ?? {};
  writeFileSync('/host/ended', `${name} ${error.code} ${memory.bytes[63]}: ${error.message}\n`);
}
setInterval(() => {}, 1000);
