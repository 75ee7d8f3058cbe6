import { truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Duplex } from 'node:stream';

import type { EmulatedBoard } from '../../lib/board/index.ts';
import { MachineBus } from '../helpers/pci_proxy/machine_bus.ts';
import { servePciFunction, type Machine, type ServedPciFunction } from '../helpers/pci_proxy/pci_proxy.ts';
import { runGuest, type GuestOptions, type GuestRun } from './guest.ts';

/** PCI addresses of the slots for board functions, in order. */
export const slots = [
  '0000:00:10.0',
  '0000:00:11.0',
  '0000:00:12.0',
  '0000:00:13.0',
  '0000:00:14.0',
  '0000:00:15.0',
] as const;
const firstSlot = 16;
/** Number of the first descriptor passed to the emulator. */
const firstDescriptor = 3;

/** The machine as seen by a device in one of its slots. */
export interface SlotOptions {
  readonly memory: Machine['memory'];
  /** Socket path of its bus; undefined: it has none. */
  readonly bus?: string;
  readonly sourceId: number;
}

/** A virtual machine with functions in its slots. */
export interface HcaGuestOptions extends Omit<GuestOptions, 'machine' | 'attend'> {
  /**
   * Serve the functions of the slots, in order, at the other ends of the emulator's descriptors, until those
   * close.
   */
  readonly functions: readonly ((stream: Duplex, slot: SlotOptions) => Promise<void>)[];
  readonly megabytes: number;
  /** The machine has an IOMMU, and the functions have interrupts. */
  readonly iommu: boolean;
  /** More arguments of the emulator. */
  readonly machine?: readonly string[];
}

/** The paths of a machine's memory and bus, and the functions in its slots. */
export function slotOf(
  host: string,
  place: number,
  { megabytes, iommu }: Pick<HcaGuestOptions, 'megabytes' | 'iommu'>,
): SlotOptions {
  return {
    memory: { path: path.join(host, 'memory'), bytes: megabytes * 2 ** 20 },
    ...(iommu && { bus: path.join(host, 'bus') }),
    sourceId: (firstSlot + place) << 3,
  };
}

/**
 * Boots a machine, runs its program and waits for its end.
 * @param host the folder from hostFolder()
 */
export async function runHcaGuest(
  emulator: string,
  host: string,
  { functions, kernel = '', machine = [], ...options }: HcaGuestOptions,
): Promise<GuestRun> {
  const { iommu, megabytes } = options;
  const { memory, bus } = slotOf(host, 0, options);
  writeFileSync(memory.path, '');
  truncateSync(memory.path, memory.bytes);
  const served: Promise<void>[] = [];
  const run = await runGuest(emulator, host, {
    ...options,
    kernel: `${iommu ? 'intel_iommu=on ' : ''}${kernel}`,
    machine: [
      '-machine',
      'q35,memory-backend=memory,kernel-irqchip=split',
      '-m',
      `${megabytes}`,
      '-object',
      `memory-backend-file,id=memory,size=${memory.bytes},share=on,mem-path=${memory.path}`,
      ...(iommu ? ['-device', 'intel-iommu,intremap=on'] : []),
      ...(bus === undefined ? [] : ['-qtest', `unix:${bus},server=on,wait=off`, '-qtest-log', '/dev/null']),
      ...functions.flatMap((_, place) => [
        '-device',
        `x-pci-proxy-dev,fd=${firstDescriptor + place},addr=${(firstSlot + place).toString(16)}`,
      ]),
      ...machine,
    ],
    attend: functions.map((serve, place) => (stream) => {
      served.push(serve(stream, slotOf(host, place, options)));
    }),
  });
  await Promise.all(served);
  if (bus !== undefined) buses.get(bus)?.close();
  return run;
}

/** The connection to the bus of each machine. */
const buses = new Map<string, MachineBus>();

/** Serves a function of a board of this process in a slot. */
export function serveFunction(
  board: EmulatedBoard,
  stream: Duplex,
  { memory, bus, sourceId }: SlotOptions,
  underlyingFunction = 0,
): ServedPciFunction {
  if (bus === undefined) return servePciFunction(board, stream, { memory }, underlyingFunction);
  if (!buses.has(bus)) buses.set(bus, new MachineBus(bus));
  const control = { bus: buses.get(bus)!, sourceId };
  return servePciFunction(board, stream, { memory, control }, underlyingFunction);
}

/** Serves function 0 of boards of this process, one in each slot. */
export function inThisProcess(boards: readonly EmulatedBoard[]): HcaGuestOptions['functions'] {
  return boards.map((board) => (stream, slot) => serveFunction(board, stream, slot).ended);
}
