// An end of a link in a separate process: a board with a register file as its device (test/board/register_file_board.ts) that sends the
// packet of its argument, `count` times or endlessly, and reports how many packets have arrived.
import { createRequire } from 'node:module';
import { argv } from 'node:process';

const { addonPath, options, registers, packet, count } = JSON.parse(argv[2]);
const { EmulatedBoard } = createRequire(import.meta.url)(addonPath);
const board = new EmulatedBoard(options);
const opened = board.open(0);
const bytes = Uint8Array.from(packet);
new Uint32Array(bytes.buffer).forEach((word, index) => opened.write32(registers.vcbBar, 4 * index, word));
opened.write32(registers.bar, registers.bytes, bytes.length);
for (let sent = 0; sent < count;) {
  const before = opened.read32(registers.bar, registers.sent);
  opened.write32(registers.bar, registers.start, registers.sendPacket);
  while (opened.read32(registers.bar, registers.sent) === before) opened.advance();
  sent += 1;
}
process.send('done');
// Stays alive, and receives packets, until its parent ends it.
process.on('message', () => process.send(opened.read32(registers.bar, registers.received)));
