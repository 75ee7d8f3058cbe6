import { getDeviceList } from '../index.ts';
import type { Output } from './output/output.ts';
import { table } from './output/table.ts';

/** `hca list`: a line for each device. JSON: [{device, backend, description}]. */
export function list(output: Output): void {
  const devices = getDeviceList().map(({ name }) => ({
    device: name,
    backend: name.slice(0, name.indexOf(':')),
    description: 'emulated board in this process',
  }));
  output.value(devices);
  output.text(
    table(
      [{ title: 'DEVICE' }, { title: 'WHAT IT IS' }],
      devices.map(({ device, description }) => [device, description]),
    ),
  );
  output.text('\nBoards on PCIe are not looked for yet: this version opens emu: only.\n');
}
