// Runs in the guest: `edu` behind an IOMMU, bound to vfio-pci by our commands and used by an ordinary user. Writes its results to
// /host/result.json.
import { chownSync, readFileSync, readdirSync, readlinkSync, writeFileSync, writeSync } from 'node:fs';

import { apply } from '../../dist/lib/board/pci/action.js';
import { obstaclesOf } from '../../dist/lib/board/pci/obstacle.js';
import { openSysfs, openVfio } from '../../dist/lib/board/pci/open_pci.js';
import { readPciFunction } from '../../dist/lib/board/pci/pci_function.js';
import { accepted, address, deliver, fetch, messageOf, pattern, register, sameBytes } from './edu.mjs';

const user = 1000;
const host = { accepted };
/** The device reports 28 bits. */
const options = { accepted, addressBits: 28 };
const result = {};

result.sysfs = messageOf(() => openSysfs(address, host));
result.unbound = messageOf(() => openVfio(address, options));
for (const { actions } of obstaclesOf('vfio', readPciFunction(address, host))) {
  for (const action of actions) apply(action);
}
const { driver, iommuGroup } = readPciFunction(address, host);
result.driver = driver;
chownSync(`/dev/vfio/${iommuGroup.number}`, user, user);
process.setgid(user);
process.setuid(user);

const board = openVfio(address, options);
result.facts = board.facts();
result.identification = board.read32(0, register.identification);
board.write32(0, register.liveness, 0x12345678);
result.liveness = board.read32(0, register.liveness);
result.again = messageOf(() => openVfio(address, options));
result.master = isMaster();

// In both directions; an interrupt reports the end.
let told;
const ended = new Promise((done) => (told = done));
const interrupt = board.interrupt(0, told);
interrupt.ref();
const [from, to] = [board.allocateMemory(4096), board.allocateMemory(4096)];
result.addresses = [from.addressLow, from.addressHigh, to.addressLow, to.addressHigh];
new Uint8Array(from.buffer).set(pattern(4096, 1));
await fetch(board, from.addressLow, 4088);
await deliver(board, to.addressLow, 4088, true);
result.interrupts = await ended;
result.interruptStatus = board.read32(0, register.interruptStatus);
board.write32(0, register.acknowledge, result.interruptStatus);
interrupt.close();
result.copied = sameBytes(new Uint8Array(to.buffer, 0, 4088), pattern(4088, 1));
result.beyond = [...new Uint8Array(to.buffer, 4088, 8)];

// Memory of the process: the device reaches it only while it is mapped.
const foreign = new Uint8Array(8192);
const at = board.map(foreign);
result.sameOffset = Number(at & 0xfffn);
await deliver(board, Number(at) + 4096, 1024);
result.foreign = sameBytes(foreign.subarray(4096, 5120), pattern(1024, 1));
foreign.fill(0xaa);
board.unmap(at);
await deliver(board, Number(at) + 4096, 1024);
await deliver(board, 0x0ffe_0000, 1024); // never mapped
result.unchanged = foreign.every((byte) => byte === 0xaa);

// The device cannot write memory that it may only read.
const readOnly = new Uint8Array(4096).fill(0xbb);
const readable = board.map(readOnly, 'read');
await fetch(board, Number(readable), 512);
await deliver(board, to.addressLow, 512);
result.read = sameBytes(new Uint8Array(to.buffer, 0, 512), readOnly.subarray(0, 512));
await fetch(board, from.addressLow, 512);
await deliver(board, Number(readable), 512);
result.readOnly = readOnly.every((byte) => byte === 0xbb);

// Two parts of one page: each has its own address and its own rights while it is mapped.
const page = new Uint8Array(2 * 4096);
const inPage = 4096 - Number(board.map(page) & 0xfffn); // offset of a page boundary
const [left, right] = [page.subarray(inPage, inPage + 64), page.subarray(inPage + 64, inPage + 128)];
const [leftAddress, rightAddress] = [board.map(left, 'read'), board.map(right)].map(Number);
result.twoPages = leftAddress >> 12 !== rightAddress >> 12;
await fetch(board, from.addressLow, 64);
await deliver(board, leftAddress, 64);
await deliver(board, rightAddress, 64);
result.ownRights = left.every((byte) => byte === 0) && sameBytes(right, pattern(64, 1));
board.unmap(BigInt(leftAddress));
right.fill(0);
await deliver(board, rightAddress, 64);
result.ownTime = sameBytes(right, pattern(64, 1));
result.foreignLimit = messageOf(() => board.map(new Uint8Array(64 * 2 ** 20)));
result.limit = messageOf(() => board.allocateMemory(64 * 2 ** 20));
board.close();
result.masterAfter = isMaster();
const second = openVfio(address, options);
result.second = second.read32(0, register.identification);
// Its memory accesses are disabled in its configuration space: the kernel removes the BARs, and an access raises SIGBUS.
const lost = new Promise((resolve) => second.removal((reason) => setImmediate(() => resolve(reason))).ref());
disableMemory();
result.zapped = [register.identification, register.liveness].map((offset) => second.read32(0, offset));
second.write32(0, register.liveness, 1);
result.zappedReason = await lost;
second.close();
writeFileSync('/host/result.json', JSON.stringify(result));

function disableMemory() {
  const configuration = 7 * 2 ** 40; // VFIO_PCI_CONFIG_REGION_INDEX
  const file = readdirSync('/proc/self/fd').find((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('vfio-device');
    } catch {
      return false;
    }
  });
  writeSync(Number(file), Buffer.from([0, 0]), 0, 2, configuration + 4);
}

function isMaster() {
  return (readFileSync(`/sys/bus/pci/devices/${address}/config`)[4] & 4) !== 0;
}
