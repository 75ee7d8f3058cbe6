import {
  deviceStringOf,
  findServedBoards,
  listPciFunctions,
  obstaclesOf,
  type FoundBoard,
  type PciFunction,
} from '../board/index.ts';
import type { Output } from './output/output.ts';
import { table } from './output/table.ts';

/** `hca list`: prints a line for each device. JSON: [{device, backend, description, obstacles}]. @param root prefix of /sys, /proc and /dev */
export function list(output: Output, root = ''): void {
  const emulated = {
    device: 'emu:',
    backend: 'emu',
    description: 'emulated board in this process',
    obstacles: [] as string[],
  };
  const onPcie = listPciFunctions({ root }).map((each) => entryOf(each, root));
  const devices = [emulated, ...findServedBoards().map(servedEntryOf), ...onPcie];
  output.value(devices);
  output.text(
    table(
      [{ title: 'DEVICE' }, { title: 'WHAT IT IS' }],
      devices.map(({ device, description, obstacles }) => [device, [description, ...obstacles].join('; ')]),
    ),
  );
  output.text(
    onPcie.length === 0
      ? '\nThere is no board on PCIe.\n'
      : '\nhca setup lists obstacles to a board on PCIe, and remedies.\n',
  );
}

type Entry = Record<'device' | 'backend' | 'description', string> & { obstacles: string[] };

const serverObstacles = {
  serving: [],
  busy: ['busy: its server accepts no connection'],
  silent: ['its server does not answer'],
} as const;

function servedEntryOf({ name, state, firstFunction, underlyingFunctions, open }: FoundBoard): Entry {
  const taken = open.length === 0 ? 'none is open' : `${open.join(', ')} open`;
  const isShared = firstFunction >= underlyingFunctions;
  const functions = isShared
    ? ', which can be observed'
    : `: functions ${Math.max(1, firstFunction)} to ${underlyingFunctions - 1}, ${taken}`;
  return {
    device: `serve:${name}`,
    backend: 'serve',
    description: `board of another process${state === 'serving' ? functions : ''}`,
    obstacles: [...serverObstacles[state]],
  };
}

function entryOf(pciFunction: PciFunction, root: string): Entry {
  const { name, identification, underlyingFunction, iommuGroup } = pciFunction;
  const backend = iommuGroup === undefined ? 'pci' : 'vfio';
  const which = underlyingFunction === 0 ? '' : `, virtual function ${underlyingFunction - 1}`;
  return {
    device: deviceStringOf(pciFunction),
    backend,
    description: `${name} (${identification})${which}`,
    obstacles: obstaclesOf(backend, pciFunction, root)
      .filter(({ blocks }) => blocks)
      .map(({ problem }) => problem),
  };
}
