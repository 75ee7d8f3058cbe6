// Echoes: in a worker the posted messages, in a process the bytes from the Unix-domain socket at the path of
// its argument.
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';

import { echoServer } from './peers.ts';

if (parentPort !== null) {
  const port = parentPort;
  port.on('message', (message) => port.postMessage(message));
  port.postMessage('ready');
} else {
  const server = echoServer(process.argv[2]!);
  await once(server, 'listening');
  process.send!('ready');
  process.once('disconnect', () => server.close());
}
