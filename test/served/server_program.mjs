// A server of a board in a separate process. Arguments: path of the socket, options of serve as JSON. Prints "serving", and runs until it
// is killed. Answers "work" with the work of its thread, and "end" with "ended" when it has stopped serving.
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
