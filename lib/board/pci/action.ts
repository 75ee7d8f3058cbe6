import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** A step of the superuser that takes something out of the way. */
export type Action =
  { readonly file: string; readonly value: string } | { readonly command: readonly string[] };

/** The command line for a shell. */
export function shellLine(action: Action): string {
  if ('command' in action) return action.command.join(' ');
  return `echo ${action.value} > ${action.file}`;
}

/**
 * Does it.
 * @param root put before the file that is written
 * @throws Error of the system: no right, no such file, or what the command says
 */
export function apply(action: Action, root = ''): void {
  if ('command' in action) {
    const [program, ...args] = action.command;
    execFileSync(program!, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  } else {
    writeFileSync(`${root}${action.file}`, `${action.value}\n`);
  }
}

/** Steps that bind a function to vfio-pci, and no other function of its kind. */
export function bindToVfio(address: string, driver: string | undefined): Action[] {
  const directory = `/sys/bus/pci/devices/${address}`;
  return [
    { command: ['modprobe', 'vfio-pci'] },
    { command: ['modprobe', 'vfio_iommu_type1'] },
    ...(driver === undefined ? [] : [unbind(address, driver)]),
    { file: `${directory}/driver_override`, value: 'vfio-pci' },
    { file: '/sys/bus/pci/drivers_probe', value: address },
  ];
}

/** The step that takes a function from its driver. */
export function unbind(address: string, driver: string): Action {
  return { file: `/sys/bus/pci/drivers/${driver}/unbind`, value: address };
}

/** Steps that give a function back to the driver that the kernel has for it. */
export function giveBack(address: string, driver: string | undefined): Action[] {
  return [
    ...(driver === undefined ? [] : [unbind(address, driver)]),
    // An empty line clears it.
    { file: `/sys/bus/pci/devices/${address}/driver_override`, value: '' },
    { file: '/sys/bus/pci/drivers_probe', value: address },
  ];
}
