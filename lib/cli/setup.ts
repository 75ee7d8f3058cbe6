import {
  PciError,
  apply,
  deviceStringOf,
  giveBack,
  listPciFunctions,
  obstaclesOf,
  parseDeviceString,
  readPciFunction,
  shellLine,
  type Action,
  type Obstacle,
  type PciFunction,
} from '../board/index.ts';
import type { Output } from './output/output.ts';

/** Arguments of `hca setup`. */
export interface SetupOptions {
  /** Device strings of the PCI functions to set up. Default: inspect all, and change none. */
  readonly devices: readonly string[];
  /** Execute the commands instead of printing them. */
  readonly apply: boolean;
  /** Return the functions to the kernel's driver instead of taking them. */
  readonly release: boolean;
  /** User who gets access to the groups of `vfio:`. */
  readonly owner?: string | undefined;
  /** Prefix of /sys, /proc and /dev. Default: empty. */
  readonly root?: string;
}

interface Named {
  readonly device: string;
  readonly backend: 'pci' | 'vfio';
  readonly pciFunction: PciFunction;
}

/**
 * `hca setup`: lists obstacles to the use of PCI functions, and the commands that remove them. JSON: [{device, identification, obstacles:
 * [{code, problem, cure, blocks}], commands, applied}].
 * @throws PciError: there is no such function, or it is not an HCA of ours; DeviceStringError; the error of a system command
 */
export function setup(output: Output, options: SetupOptions): void {
  const { devices, root = '' } = options;
  const named = devices.length === 0 ? everyFunction(root) : devices.map((device) => nameOf(device, root));
  const applied = options.apply && devices.length > 0;
  const found = named.map(({ device, backend, pciFunction }) => {
    const actions = actionsFor({ device, backend, pciFunction }, options);
    if (applied) for (const action of actions) apply(action, root);
    const now = applied ? readPciFunction(pciFunction.address, { root })! : pciFunction;
    return {
      device,
      identification: now.identification,
      obstacles: options.release ? [] : obstaclesOf(backend, now, root).map(withoutActions),
      commands: actions.map(shellLine),
      applied,
    };
  });
  output.value(found);
  if (found.length === 0) output.text('There is no board on PCIe: no function has the numbers of an HCA.\n');
  for (const each of found) {
    const { device, identification, obstacles, commands } = each;
    output.text(`${device} (${identification})\n`);
    if (obstacles.length === 0 && !options.release) output.text('  no obstacles\n');
    for (const { problem, cure, blocks } of obstacles) {
      output.text(`  ${blocks ? 'obstacle' : 'note'}: ${problem}\n    remedy: ${cure}\n`);
    }
    if (commands.length === 0) continue;
    output.text(applied ? '  done:\n' : '  by root, or with --apply:\n');
    for (const command of commands) output.text(`    ${command}\n`);
  }
  if (options.apply && devices.length === 0 && found.length > 0)
    output.text('Nothing was done: --apply needs the device named.\n');
}

function actionsFor(
  { backend, pciFunction }: Named,
  { release, owner, root }: SetupOptions,
): readonly Action[] {
  const { address, driver, iommuGroup } = pciFunction;
  if (release) return giveBack(address, driver);
  const actions = obstaclesOf(backend, pciFunction, root).flatMap((each) => each.actions);
  if (owner === undefined || backend !== 'vfio' || iommuGroup === undefined) return actions;
  return [...actions, { command: ['chown', owner, `${root ?? ''}/dev/vfio/${iommuGroup.number}`] }];
}

function everyFunction(root: string): Named[] {
  return listPciFunctions({ root }).map((pciFunction) => {
    const backend = pciFunction.iommuGroup === undefined ? 'pci' : 'vfio';
    return { device: deviceStringOf(pciFunction), backend, pciFunction };
  });
}

function nameOf(device: string, root: string): Named {
  const name = parseDeviceString(device);
  if (name.backend !== 'pci' && name.backend !== 'vfio') {
    throw new PciError(`${device} is not a PCI function`, 'EINVAL', 'pci:DDDD:BB:DD.F or vfio:DDDD:BB:DD.F');
  }
  const pciFunction = readPciFunction(name.address, { root });
  if (pciFunction === undefined) {
    throw new PciError(
      `there is no PCI function ${name.address}`,
      'ENODEV',
      'an address that lspci -D prints',
    );
  }
  if (pciFunction.name === undefined) {
    const { problem, code, cure } = obstaclesOf(name.backend, pciFunction, root)[0]!;
    throw new PciError(problem, code, cure);
  }
  return { device, backend: name.backend, pciFunction };
}

const withoutActions = ({ code, problem, cure, blocks }: Obstacle): Omit<Obstacle, 'actions'> => ({
  code,
  problem,
  cure,
  blocks,
});
