// A function whose BARs are files that are truncated during use: node zapped_program.mjs BOARD_MODULE TEST_ADDON ROOT ADDRESS WAY. Prints
// the results.
import { truncateSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [module, addon, root, address, way] = process.argv.slice(2);
const test = createRequire(import.meta.url)(addon);
const say = (told) => process.stdout.write(JSON.stringify(told));
const { openSysfs } = await import(module);

if (way === 'chained') test.handleBusErrors();
const board = openSysfs(address, { root });
const cut = () =>
  truncateSync(path.join(root, `/sys/bus/pci/devices/${address}/resource${way === 'command' ? 2 : 0}`), 0);
if (way === 'elsewhere') test.readBehindFile();
const told = new Promise((resolve) => {
  const interrupt = board.removal((reason) => setImmediate(() => resolve(reason)));
  interrupt.ref();
});
cut();
if (way === 'command') board.write64(2, 0x100, 1, 2);
const values = [board.read32(0, 0), board.read32(0, 0x1ffc)];
board.write32(0, 0, 5);
values.push(board.read32(0, 0));
const others = way === 'chained' ? test.readBehindFile() : 0;
say({ values, others, reason: await told });
