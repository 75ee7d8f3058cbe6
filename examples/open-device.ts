import { openDevice } from 'fpga-verbs';

const device = openDevice('emu:');
const { identity, limits } = device.queryDevice();
console.log(`${identity.boardName}: up to ${limits.queuePairs} queue pairs`);
device.close();
