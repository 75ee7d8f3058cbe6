// How a test of a driver looks on an emulated board: a fault is put between driver and device, and what becomes of it is checked.
// The board is stepped: nothing happens unless it is asked to, so all of it happens again the same way.
//
// Run it: node dist/examples/driver-test-with-faults.js
import assert from 'node:assert/strict';
import { Access, Completion, Opcode, completionStatusNames, openDevice } from 'fpga-verbs';
import { EmulatedBoard } from 'fpga-verbs/board';
import { addressOf, connectQueuePair } from 'fpga-verbs/connect';

using board = new EmulatedBoard({ progress: 'stepped', seed: 7 });
const device = openDevice(board.open());
const domain = device.createProtectionDomain();
const completionQueue = device.createCompletionQueue();
const queuePair = domain.createQueuePair({
  type: 'RC',
  sendCompletionQueue: completionQueue,
  receiveCompletionQueue: completionQueue,
  signalAll: true,
});
const here = addressOf(device, queuePair);
connectQueuePair(queuePair, here, here);
const memory = domain.allocate(4096, Access.localWrite | Access.remoteWrite);

/** An RDMA WRITE of 8 B to the begin of the memory. */
function postWrite(wrId: number): void {
  const remote = memory.remote();
  queuePair.postSend({ wrId, opcode: Opcode.rdmaWrite, gather: [memory.slice(2048, 8)], remote });
}

/** Lets the board come to rest, and says what has completed. */
function completed(): string[] {
  board.runUntilIdle();
  const completions = Array.from({ length: 16 }, () => new Completion());
  const count = completionQueue.poll(completions);
  return completions.slice(0, count).map(({ wrId, status }) => `${wrId} ${completionStatusNames[status]}`);
}

// Without a fault: what the driver writes, as the device sees it.
board.startRecording();
postWrite(1);
assert.deepEqual(completed(), ['1 success']);
const { transactions } = board.stopRecording();
for (const transaction of transactions) console.log(`seen: ${board.describe(transaction)}`);

// All writes of a command are lost on their way. The device sees that when the next command comes, and fetches what it missed
// from the send queue.
const lost = board.inject({ kind: 'drop', bar: 2, count: 0 });
postWrite(2);
assert.deepEqual(completed(), []);
console.log(`lost: ${lost.happened} writes`);
lost.remove();
postWrite(3);
assert.deepEqual(completed(), ['2 success', '3 success']);

// The IOMMU refuses the device the data: the work request fails, those behind it are flushed, and the device says where.
const data = memory.address + 2048n;
board.inject({ kind: 'fault_dma', begin: data, end: data + 8n });
postWrite(4);
postWrite(5);
assert.deepEqual(completed(), ['4 localProtectionError', '5 workRequestFlushedError']);
const event = device.pollEvent();
console.log(`refused: ${event?.name} at ${event?.detail === data ? 'the data' : event?.detail}`);

// A device that falls off the bus answers all ones.
board.inject({ kind: 'read_all_ones', count: 0 });
assert.throws(() => openDevice(board.open(1)), { code: 'ENODEV' }, 'the device is gone');
console.log('gone: a driver that is opened now says so');
