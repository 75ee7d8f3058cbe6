// A server of a board in a process of its own: arguments: path of the socket, options of serve as JSON. Says "serving", and stays until
// it is killed. To "work" it answers with what its thread has done, to "end" with "ended" when it serves no more.
import { argv } from 'node:process';

const { openDevice } = await import(new URL('../../dist/lib/index.js', import.meta.url).href);
const { EmulatedBoard } = await import(new URL('../../dist/lib/board/index.js', import.meta.url).href);
const board = new EmulatedBoard({ queuePairs: 64, pageTableEntries: 4096, memoryKeys: 256 });
const served = board.serve({ path: argv[2], ...JSON.parse(argv[3] ?? '{}') });
globalThis.held = [openDevice(board.open()), served];
process.on('message', (message) => {
  if (message === 'work') process.send(served.work());
  if (message !== 'end') return;
  served.close();
  process.send('ended', () => process.exit());
});
process.send('serving');
