// Runs in the guest: `edu` without an IOMMU, through sysfs. Writes its results to /host/result.json.
import { closeSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

import { openSysfs, openVfio } from '../../dist/lib/board/pci/open_pci.js';
import { accepted, address, deliver, fetch, messageOf, pattern, register, sameBytes } from './edu.mjs';

const host = { accepted };
const result = {};
const isMaster = () => (readFileSync(`/sys/bus/pci/devices/${address}/config`)[4] & 4) !== 0;

result.vfio = messageOf(() => openVfio(address, host));
const board = openSysfs(address, host);
result.facts = board.facts();
result.identification = board.read32(0, register.identification);
board.write32(0, register.liveness, 0x12345678);
result.liveness = board.read32(0, register.liveness);
result.again = messageOf(() => openSysfs(address, host));
result.foreign = messageOf(() => board.map(new Uint8Array(4096)));
result.masterBefore = isMaster();

/** The error when memory is allocated with this many free file descriptors, and the descriptors that stay open afterwards. */
function refusedWith(left) {
  const before = readdirSync('/proc/self/fd').length;
  const taken = [];
  let code;
  while (code === undefined) {
    try {
      taken.push(openSync('/dev/null'));
    } catch (error) {
      ({ code } = error);
    }
  }
  for (const descriptor of taken.splice(taken.length - left)) closeSync(descriptor);
  const message = messageOf(() => board.allocateMemory(4096));
  for (const descriptor of taken) closeSync(descriptor);
  return { message, master: isMaster(), more: readdirSync('/proc/self/fd').length - before };
}
// The memory's file needs one, which stays open, and reading its address another one; the pipe of the guard needs two, the guard three in
// total.
const freePages = () => Number(readFileSync('/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages'));
const pagesBefore = freePages();
result.refused = [0, 1, 0, 1, 2, 3, 4].map(refusedWith);
result.pagesOfRefused = pagesBefore - freePages();

const [from, to] = [board.allocateMemory(4096), board.allocateMemory(4096)];
result.master = isMaster();
new Uint8Array(from.buffer).set(pattern(4096, 1));
await fetch(board, from.addressLow, 4088);
await deliver(board, to.addressLow, 4088);
result.copied = sameBytes(new Uint8Array(to.buffer, 0, 4088), pattern(4088, 1));
result.beyond = [...new Uint8Array(to.buffer, 4088, 8)];

// Larger than a hugepage: contiguous in physical memory, as the device needs it.
const large = board.allocateMemory(5 * 2 ** 20);
for (const page of [0, 511, 512, 1023, 1024, 1279]) {
  await deliver(board, large.addressLow + page * 4096, 1024);
}
result.large = [0, 511, 512, 1023, 1024, 1279].every((page) =>
  sameBytes(new Uint8Array(large.buffer, page * 4096, 1024), pattern(1024, 1)),
);
const untouched = new Uint8Array(large.buffer, 1024, 4096 - 1024);
result.untouched = untouched.every((byte) => byte === 0);

// Freed memory is allocated again, zeroed.
const [low, high] = [large.addressLow, large.addressHigh];
large.free();
const again = board.allocateMemory(5 * 2 ** 20);
result.reused = again.addressLow === low && again.addressHigh === high;
result.zeroed = new Uint8Array(again.buffer).every((byte) => byte === 0);
result.exhausted = messageOf(() => board.allocateMemory(64 * 2 ** 20));
board.close();
result.masterAfter = isMaster();
writeFileSync('/host/result.json', JSON.stringify(result));
