// A server of a board in a process of its own: argument: path of the socket. Says "serving", and stays until it is killed.
import { argv } from 'node:process';

const { openDevice } = await import(new URL('../../dist/lib/index.js', import.meta.url).href);
const { EmulatedBoard } = await import(new URL('../../dist/lib/board/index.js', import.meta.url).href);
const board = new EmulatedBoard({ queuePairs: 64, pageTableEntries: 4096, memoryKeys: 256 });
globalThis.held = [openDevice(board.open()), board.serve({ path: argv[2] })];
process.send('serving');
process.on('message', () => undefined);
