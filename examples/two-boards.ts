// Two boards, connected in one call on each side: a SEND and an atomic are awaited, nothing is polled.
//
// Run it: node dist/examples/two-boards.js
import { openDevice } from 'fpga-verbs';
import { EmulatedFabric } from 'fpga-verbs/board';
import { Connection } from 'fpga-verbs/connect';

const fabric = new EmulatedFabric();
const [here, there] = [fabric.makeBoard(), fabric.makeBoard()].map(
  (board) => new Connection(openDevice(board.open())),
) as [Connection, Connection];
here.connect(there.address); // plain JSON, for any way to the peer
there.connect(here.address);

const [data, buffer] = [here.allocate(4096), there.allocate(4096)];
data.bytes.fill(7);
const received = there.receive(buffer.slice());
await here.send(data.slice());
console.log(`SEND: ${(await received).byteLength} B received`);

await here.read(data.slice(0, 8), buffer.remote());
console.log(`fetch and add: ${await here.fetchAndAdd(buffer.remote(), 1n)} was there`);
fabric.close();
