// How a test of a driver looks on an emulated board: a fault is put between driver and device, and the driver's answer to it
// is checked. Everything is stepped, so that it happens again the same way.
import { EmulatedBoard } from 'fpga-verbs/board';
import { openDevice } from 'fpga-verbs';

const board = new EmulatedBoard({ progress: 'stepped', seed: 7 });
const device = openDevice(board.open());
console.log(`opened: ${device.queryDevice().identity.boardName}`);

// What a driver's accesses look like to the device.
board.startRecording();
device.driver.device.page.read32(0);
for (const transaction of board.takeTransactions()) console.log(`seen: ${board.describe(transaction)}`);

// A write beyond a command is refused, and the device says so.
board.post({ bar: 2, offset: 320, data: new Uint8Array(8) });
board.runUntilIdle();
const refusal = device.pollEvent();
console.log(`refused: ${refusal?.name}, at offset ${refusal?.offset}`);

// The same write, lost on its way: nothing happens.
const fault = board.inject({ kind: 'drop', bar: 2, count: 1 });
board.post({ bar: 2, offset: 4096 + 320, data: new Uint8Array(8) });
board.runUntilIdle();
console.log(`lost ${fault.happened}: ${device.pollEvent()?.name ?? 'no event'}`);
fault.remove();

// A device that falls off the bus answers all ones.
board.inject({ kind: 'read_all_ones', count: 0 });
try {
  device.driver.device.page.read32(0);
} catch (error) {
  console.log(`gone: ${(error as Error).message}`);
}
board.clearFaults();

device.close();
board.close();
