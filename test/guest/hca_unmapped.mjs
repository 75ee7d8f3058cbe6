// Runs in the guest: lets the device write to registered memory whose mapping was removed from the IOMMU without the driver's knowledge.
import { addressOf, connectQueuePair } from '../../dist/lib/connect/index.js';
import { Access, Opcode, openDevice } from '../../dist/lib/index.js';

/** Results of a write before and after: status of its completion, and the first byte of the memory. */
export async function writeBehindTheMapping(deviceString) {
  const context = openDevice(deviceString);
  const protectionDomain = context.createProtectionDomain();
  const completionQueue = context.createCompletionQueue({ entries: 16 });
  const queuePair = protectionDomain.createQueuePair({
    type: 'RC',
    sendCompletionQueue: completionQueue,
    receiveCompletionQueue: completionQueue,
    capabilities: { maxSendWorkRequests: 4, maxInlineData: 64 },
  });
  const address = addressOf(context, queuePair);
  connectQueuePair(queuePair, address, address);
  const memory = new Uint8Array(4096);
  const region = protectionDomain.registerMemory(memory, Access.localWrite | Access.remoteWrite);
  const remote = region.remote().slice(0, 16);
  const seen = [];
  for (const byte of [1, 2]) {
    queuePair.postSend({
      wrId: byte,
      opcode: Opcode.rdmaWrite,
      inlineData: new Uint8Array(16).fill(byte),
      remote,
      signaled: true,
    });
    for await (const { status } of completionQueue) {
      seen.push({ status, byte: memory[0] });
      break;
    }
    if (byte === 1) context.driver.device.board.unmap(region.address);
  }
  context.driver.device.board.close(); // removes the mappings too: the region has none to return
  return seen;
}
