import { openDevice, type DeviceInfo } from '../index.ts';
import { regionTypeNames } from '../spec/index.ts';
import { formatLimits, portEntries, portValue } from './info_ports.ts';
import type { Output } from './output/output.ts';
import { list } from './output/table.ts';

type Entry = readonly [name: string, value: string];

const designs: Readonly<Record<number, string>> = { 1: 'emulated board', 2: 'RTL' };

/** `hca info`: describes the device as ibv_devinfo does. JSON: the {@link DeviceInfo}, its regions and its ports. */
export function info(output: Output, deviceString: string, verbose: boolean): void {
  const device = openDevice(deviceString);
  try {
    const known = device.queryDevice();
    const regions = device.driver.device.regions.all.map((region) => ({
      ...region,
      type: regionTypeNames[region.type],
    }));
    const ports = Array.from({ length: known.identity.ports }, (_, index) => device.queryPort(index + 1));
    output.value({ device: deviceString, ...known, regions, ports: ports.map(portValue) });
    output.text(list([['hca', deviceString], ...indented(brief(known))]));
    if (!verbose) return;
    output.text(`\n${list(indented([...sizes(known), ...formatLimits]))}\n`);
    for (const [index, port] of ports.entries())
      output.text(`${list(indented(portEntries(index + 1, port)))}\n`);
    output.text(
      list(
        indented(
          regions.map(({ type, bar, offset, size, pages, pageStride, prefetchable }) => [
            `region ${type}`,
            `BAR ${bar} + 0x${offset.toString(16)}, ${size} B, ${pages} × ${pageStride} B${prefetchable ? ', prefetchable' : ''}`,
          ]),
        ),
      ),
    );
  } finally {
    device.close();
  }
}

function indented(entries: readonly Entry[]): Entry[] {
  return entries.map(([name, value]) => [`  ${name}`, value]);
}

function brief({ identity, board, underlyingFunction }: DeviceInfo): Entry[] {
  const { version, capabilities } = identity;
  const { rtlBlocks } = capabilities;
  return [
    ['board', identity.boardName],
    ['design', `${designs[identity.design] ?? identity.design}, revision ${identity.revision}`],
    ['interface version', `${version.major}.${version.minor}`],
    ['blocks in RTL', rtlBlocks.length === 0 ? 'none: all blocks are the model' : rtlBlocks.join(', ')],
    ['underlying function', `${underlyingFunction} of ${identity.underlyingFunctions}`],
    ['ports', `${identity.ports}`],
    ['progress', progressOfBackend[board.backend] ?? progressOf[board.progress]],
    ['command writes', mappingOf(board.mapping, board.storeBytes)],
    ['command store', board.commandStore],
    ['device clock', `${identity.clockFrequency / 1e6} MHz, from ${board.clock}`],
  ];
}

const progressOfBackend: Readonly<Record<string, string>> = {
  pci: 'own: the device is a PCI function',
  vfio: 'own: the device is a PCI function',
  serve: 'own: the server of the board advances it',
};

const progressOf = {
  shared: 'shared: posting and polling advance the device',
  own: 'own: the device spins on a thread of its own',
  stepped: 'stepped: in virtual time, when a test asks for it',
} as const;

/** Guarantees of the mapping of the virtual collect buffers. */
function mappingOf(mapping: 'write_combining' | 'uncached', storeBytes: number): string {
  return mapping === 'uncached'
    ? `uncached: ${storeBytes} B a transaction, in order`
    : `write-combining: up to ${storeBytes} B a transaction, any order between fences`;
}

function sizes({ identity, limits, board }: DeviceInfo): Entry[] {
  const dedicated = identity.dedicatedPhysicalCollectBuffers;
  const management = identity.managementPhysicalCollectBuffers;
  return [
    [
      'virtual collect buffers',
      `${identity.virtualCollectBuffers}, ${identity.virtualCollectBufferStride} B apart`,
    ],
    [
      'physical collect buffers',
      `${identity.physicalCollectBuffers}, and ${dedicated} dedicated (${management} to management)`,
    ],
    ['guaranteed to this function', `${limits.physicalCollectBuffers} physical collect buffers`],
    [
      'transmit virtual lanes',
      `${identity.transmitVirtualLanes}, ${limits.transmitVirtualLanes} of this function`,
    ],
    ['scoreboard variant', identity.capabilities.scoreboardVariant],
    ['DWORD-only bridge', identity.capabilities.doubleWordOnly ? 'yes' : 'no'],
    ['kick records', identity.capabilities.kickRecords ? 'yes' : 'no'],
    ['max_qp', `${limits.queuePairs}`],
    ['max_qp_wr', `${limits.queueEntriesMaximum}`],
    ['max_cq', `${limits.completionQueues}`],
    ['max_cqe', `${limits.queueEntriesMaximum}`],
    ['max_mr', `${limits.memoryKeys}, windows among them`],
    ['local_ca_ack_delay', `${limits.targetAckDelay}`],
    ['event queues', `${limits.eventQueues}, ${board.interruptVectors} interrupt vectors`],
    ['context memory', `${identity.contextMemoryNeeded} B`],
    ['beat at block ports', `${identity.beatBytes} B`],
  ];
}
