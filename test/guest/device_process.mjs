// The process of a device that a test may kill. Serves an emulated board to the machine that it connects to: node device_process.mjs SOCKET
// MEMORY BYTES SOURCE_ID [BUS]
import { connect } from 'node:net';

import { EmulatedBoard } from '../../dist/lib/board/index.js';
import { MachineBus } from '../../dist/test/helpers/pci_proxy/machine_bus.js';
import { servePciFunction } from '../../dist/test/helpers/pci_proxy/pci_proxy.js';

const [, , socket, memory, bytes, sourceId, bus] = process.argv;
const board = new EmulatedBoard({ queuePairs: 64, pageTableEntries: 1024, memoryKeys: 256 });
const machine = {
  memory: { path: memory, bytes: Number(bytes) },
  ...(bus !== undefined && { control: { bus: new MachineBus(bus), sourceId: Number(sourceId) } }),
};
await servePciFunction(board, connect(socket), machine).ended;
process.exit();
