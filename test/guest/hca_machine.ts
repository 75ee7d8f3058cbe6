import { truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { EmulatedBoard } from '../../lib/board/index.ts';
import { servePciFunction, type Machine } from '../../lib/board/pci_proxy/pci_proxy.ts';
import { runGuest, type GuestOptions, type GuestRun } from './guest.ts';

const memoryBytes = 384 * 2 ** 20;
/** Slot 16. */
const sourceId = 16 << 3;

/** The virtual machine that has function 0 of an emulated board in its slot 16. */
export interface HcaMachine extends Machine {
  /** Arguments of the emulator. */
  readonly arguments: readonly string[];
}

/** @param host what hostFolder() gave. @param iommu arguments of the emulator that put an IOMMU before the function */
export function hcaMachine(host: string, iommu?: readonly string[]): HcaMachine {
  const memory = path.join(host, 'memory');
  writeFileSync(memory, '');
  truncateSync(memory, memoryBytes);
  const control = { path: path.join(host, 'qtest'), sourceId };
  return {
    memory: { path: memory, bytes: memoryBytes },
    ...(iommu !== undefined && { control }),
    arguments: [
      '-machine',
      'q35,memory-backend=memory,kernel-irqchip=split',
      '-m',
      `${memoryBytes / 2 ** 20}`,
      '-object',
      `memory-backend-file,id=memory,size=${memoryBytes},share=on,mem-path=${memory}`,
      ...(iommu === undefined
        ? []
        : [...iommu, '-qtest', `unix:${control.path},server=on,wait=off`, '-qtest-log', '/dev/null']),
      '-device',
      'x-pci-proxy-dev,fd=3,addr=10',
    ],
  };
}

/** Boots the machine with the board in it, and waits for its end. */
export async function runHcaGuest(
  emulator: string,
  host: string,
  board: EmulatedBoard,
  { machine, ...options }: Omit<GuestOptions, 'machine' | 'attend'> & { readonly machine: HcaMachine },
): Promise<GuestRun> {
  let served: Promise<void> | undefined;
  const run = await runGuest(emulator, host, {
    ...options,
    machine: machine.arguments,
    attend: (stream) => {
      served = servePciFunction(board, stream, machine);
    },
  });
  await served;
  return run;
}
