import { existsSync, readFileSync } from 'node:fs';

import { bindToVfio, shellLine, unbind, type Action } from './action.ts';
import { iommufdPaths, isWritable, pathOf, type PciFunction } from './pci_function.ts';

/** Something that stands between a PCI function and its use. */
export interface Obstacle {
  /** Name of the system's error number. */
  readonly code: string;
  /** A sentence without its end: the state that is wrong. */
  readonly problem: string;
  /** The cure: the right state, or how to reach it. */
  readonly cure: string;
  /** The same as steps, where they touch no other function. */
  readonly actions: readonly Action[];
  /** It keeps the function from being opened; otherwise it may only cost something. */
  readonly blocks: boolean;
}

/** The obstacles to opening a function, worst first. @param root put before /sys, /proc and /dev */
export function obstaclesOf(backend: 'pci' | 'vfio', pciFunction: PciFunction, root = ''): Obstacle[] {
  const way = backend === 'pci' ? sysfsObstacles : vfioObstacles;
  return [...identityObstacles(pciFunction), ...way(pciFunction, root)];
}

function identityObstacles({ address, name, identification, bars }: PciFunction): Obstacle[] {
  if (name === undefined) {
    return [
      blocking(
        'ENOTSUP',
        `${address} is no HCA: it is ${identification}`,
        'a function whose numbers stand in fpga/spec/pci_functions.json; hca list names those of this machine',
      ),
    ];
  }
  if (bars.some(({ bar }) => bar === 0)) return [];
  return [
    blocking(
      'ENODEV',
      `${address} has no memory BAR 0`,
      'a board whose FPGA is loaded, then a rescan of the bus',
    ),
  ];
}

function sysfsObstacles(
  { address, driver, iommuGroup, bars, resettable }: PciFunction,
  root: string,
): Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (iommuGroup !== undefined && iommuGroup.type !== 'identity') {
    obstacles.push(
      blocking(
        'ENOTSUP',
        `${address} is behind an IOMMU, which maps no memory for sysfs`,
        `vfio:${address} instead of pci:${address}`,
      ),
    );
  }
  if (driver !== undefined) {
    obstacles.push(
      byActions('EBUSY', `${address} is bound to the driver ${driver}`, [unbind(address, driver)]),
    );
  }
  for (const file of ['config', 'enable', ...bars.map(({ bar }) => `resource${bar}`)]) {
    if (isWritable(`${root}${pathOf(address)}/${file}`)) continue;
    obstacles.push(
      blocking('EACCES', `${pathOf(address)}/${file} may not be written`, 'root, or vfio:, which needs none'),
    );
    break;
  }
  const hugepages = '/sys/kernel/mm/hugepages/hugepages-2048kB';
  const free = readOr(`${root}${hugepages}/free_hugepages`, '0');
  if (Number(free) === 0) {
    obstacles.push(
      byActions('ENOMEM', 'no hugepage of 2 MiB is free, of which pci: takes its memory', [
        { file: `${hugepages}/nr_hugepages`, value: '64' },
      ]),
    );
  }
  if (!bars.some(({ writeCombining }) => writeCombining)) {
    obstacles.push(
      costing(
        `${address} has no prefetchable BAR, so that commands are written 8 B at a time`,
        'a bitstream whose command region lies in a prefetchable BAR',
      ),
    );
  }
  if (!resettable) {
    obstacles.push(
      costing(
        `the kernel cannot reset ${address}: what a killed application leaves in the device stays until the next open, ` +
          'which resets the device by its own register',
        'a bitstream with function-level reset',
      ),
    );
  }
  return obstacles;
}

/** Drivers that let a group be used: VFIO's own, and those that do no DMA. */
const harmlessDrivers = ['vfio-pci', 'pci-stub', 'pcieport'];

function vfioObstacles(pciFunction: PciFunction, root: string): Obstacle[] {
  const { address, driver, iommuGroup } = pciFunction;
  if (iommuGroup === undefined) {
    return [
      blocking(
        'ENOTSUP',
        `${address} has no IOMMU`,
        'VT-d or AMD-Vi on in the firmware and intel_iommu=on or amd_iommu=on on the kernel command line, or pci:',
      ),
    ];
  }
  const obstacles: Obstacle[] = [];
  if (driver !== 'vfio-pci') {
    const problem =
      driver === undefined ? `${address} is not bound to vfio-pci` : `${address} is bound to ${driver}`;
    obstacles.push(byActions('EBUSY', problem, bindToVfio(address, driver)));
  }
  const { number, others } = iommuGroup;
  const hindering = others.filter(
    (other) => other.driver !== undefined && !harmlessDrivers.includes(other.driver),
  );
  if (hindering.length > 0) {
    const names = hindering.map((other) => `${other.address} (${other.driver})`).join(', ');
    obstacles.push(
      blocking(
        'EBUSY',
        `group ${number} of ${address} is not viable: it holds ${names}`,
        'those bound to vfio-pci too, or a slot behind a bridge with access control services',
      ),
    );
  }
  const file = `/dev/vfio/${number}`;
  const needsGroup = iommufdPaths(pciFunction, root) === undefined;
  if (needsGroup && existsSync(`${root}${file}`) && !isWritable(`${root}${file}`)) {
    obstacles.push({
      ...byActions('EACCES', `${file} is not yours`, []),
      cure: `chown USER ${file}, by root; hca setup vfio:${address} --owner USER --apply does it`,
    });
  }
  const limit = lockedMemoryLimit(root);
  if (limit < usualLockedMemory) {
    obstacles.push({
      code: 'ENOMEM',
      problem: `only ${limit} B of memory may be locked (RLIMIT_MEMLOCK), and what the device reaches is`,
      cure: `ulimit -l ${usualLockedMemory / 1024}, or memlock in /etc/security/limits.conf`,
      actions: [],
      blocks: false,
    });
  }
  return obstacles;
}

/** Bytes that a device with its usual queues and some data needs. */
const usualLockedMemory = 64 * 2 ** 20;

/** Bytes that this process may lock. */
function lockedMemoryLimit(root: string): number {
  const line = /^Max locked memory +(\S+)/m.exec(readOr(`${root}/proc/self/limits`, ''));
  const soft = line?.[1];
  return soft === undefined || soft === 'unlimited' ? Infinity : Number(soft);
}

function blocking(code: string, problem: string, cure: string): Obstacle {
  return { code, problem, cure, actions: [], blocks: true };
}

function costing(problem: string, cure: string): Obstacle {
  return { code: 'ENOTSUP', problem, cure, actions: [], blocks: false };
}

function byActions(code: string, problem: string, actions: readonly Action[]): Obstacle {
  return { code, problem, cure: actions.map(shellLine).join(' && '), actions, blocks: true };
}

function readOr(file: string, otherwise: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : otherwise;
}
