// A client of a served board that fills its interrupt descriptors and clears O_NONBLOCK there. Arguments: device string, path of the test
// addon. It then waits for an event that would interrupt it, and stops.
import { readdirSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { argv } from 'node:process';

const { openDevice, Opcode } = await import(new URL('../../dist/lib/index.js', import.meta.url).href);
const { Connection } = await import(new URL('../../dist/lib/connect/index.js', import.meta.url).href);
const { hostileBlock } = createRequire(import.meta.url)(argv[3]);

const descriptors = () => readdirSync('/proc/self/fd').map(Number);
const before = new Set(descriptors());
const connection = new Connection(openDevice(argv[2]));
connection.connect(connection.address);
const [source, target] = [connection.allocate(64), connection.allocate(64)];
const first = connection.receive(target.slice());
await connection.send(source.slice());
await first; // its interrupts exist

const blocked = descriptors().filter((each) => !before.has(each) && hostileBlock(each));
if (blocked.length === 0) throw new Error('no interrupt was found');
// From here on the event loop does not run, so nothing reads the interrupts.
const received = connection.receive(target.slice());
void connection.completionQueue.wait();
const { queuePair } = connection;
queuePair.postSend({ opcode: Opcode.send, gather: [source.slice()], wrId: 2 ** 52 });
void received;
writeSync(1, 'blocked\n');
process.kill(process.pid, 'SIGSTOP');
