import type { DeviceFunction } from '../../lib/driver/device_function.ts';
import { blockNamed, readNamed } from '../../lib/driver/named_registers.ts';

const prefix = 'data_units_';

/** Data units that have left each block of a device, by the block's name; its control function reads them. */
export function dataUnitsOf({ controlPage }: DeviceFunction): ReadonlyMap<string, number> {
  const registers = blockNamed('control').registers.filter(({ name }) => name.startsWith(prefix));
  return new Map(
    registers.map((register) => [
      register.name.slice(prefix.length),
      Number(readNamed(controlPage!, register).values[0]),
    ]),
  );
}
