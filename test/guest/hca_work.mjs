// Runs in the guest: writes to its own memory through the device of the first argument, endlessly, one awaited work request after the
// other. Creates /host/working when some are done, and /host/ended with the code of the error that ends it.
import { appendFileSync, writeFileSync } from 'node:fs';

import { LoopedQueuePair } from '../../dist/lib/cli/looped_queue_pair.js';
import { CompletionStatus, Opcode, openDevice } from '../../dist/lib/index.js';

const [, , device, most = 'Infinity'] = process.argv;
const enough = 20;

try {
  const context = openDevice(device);
  const { queuePair, completionQueue, memory } = new LoopedQueuePair(context, {
    entries: 4,
    inlineBytes: 64,
  });
  const remote = memory.remote();
  const completions = completionQueue.completions();
  for (let done = 0; done < Number(most); done += 1) {
    const byte = (done % 255) + 1;
    queuePair.postSend({
      opcode: Opcode.rdmaWrite,
      inlineData: new Uint8Array(64).fill(byte),
      remote,
      wrId: done,
      signaled: true,
    });
    const { value } = await completions.next();
    if (value.status !== CompletionStatus.success || memory.bytes[63] !== byte)
      throw new Error(`write ${done} did not arrive: status ${value.status}`);
    if (done === enough) writeFileSync('/host/working', '');
  }
  context[Symbol.dispose]();
} catch (error) {
  appendFileSync('/host/ended', `${error.code}: ${error.message}\n`);
  process.exit(1);
}
