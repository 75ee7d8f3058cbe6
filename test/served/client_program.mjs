// A client of a served board in a separate process. Argument: the device string. Sends messages to itself endlessly and reports every
// hundred, until it is killed.
import { argv } from 'node:process';

const { openDevice } = await import(new URL('../../dist/lib/index.js', import.meta.url).href);
const { Connection } = await import(new URL('../../dist/lib/connect/index.js', import.meta.url).href);

const connection = new Connection(openDevice(argv[2]));
connection.connect(connection.address);
const [source, target] = [connection.allocate(5000), connection.allocate(5000)];
for (let sent = 1; ; sent += 1) {
  const received = connection.receive(target.slice());
  await connection.send(source.slice());
  await received;
  if (sent % 100 === 0) process.send(sent);
}
