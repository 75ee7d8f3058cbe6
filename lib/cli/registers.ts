import { VerbsError, openDevice } from '../index.ts';
import type { DeviceFunction } from '../driver/device_function.ts';
import { blockNamed, readNamed, registerNamed, type NamedRegister } from '../driver/named_registers.ts';
import type { RegisterPage } from '../driver/register_page.ts';
import { argumentName } from '../driver/arguments.ts';
import { enumDescriptions, type FieldDescription } from '../spec/index.ts';
import type { Output } from './output/output.ts';
import { list } from './output/table.ts';

const blocks = ['identity', 'underlying_function', 'control'] as const;

interface Shown {
  readonly block: string;
  readonly register: NamedRegister;
}

/**
 * `hca registers [NAME…]`: registers by name, decoded; a block, `block.register`, or a register that one block alone has.
 * Without a name those of all blocks that the function reaches. JSON: [{block, register, offset, unit, values, fields}].
 */
export function registers(output: Output, deviceString: string, names: readonly string[]): void {
  const device = openDevice(deviceString);
  try {
    const chosen = names.length === 0 ? blocks : names;
    const shown = chosen.flatMap((name) => shownOf(device.driver.device, name, names.length === 0));
    output.value(
      shown.map(({ block, register: { name, description, values, fields } }) => ({
        block,
        register: name,
        offset: description.offset,
        unit: description.unit,
        values,
        fields: description.fields.length === 0 ? undefined : fields,
      })),
    );
    output.text(list(shown.flatMap(linesOf)));
  } finally {
    device.close();
  }
}

/** The registers that a name stands for. `lenient`: a block that the function does not reach is left out. */
function shownOf(device: DeviceFunction, name: string, lenient: boolean): Shown[] {
  const [block, register] = name.includes('.') ? name.split('.', 2) : [name, undefined];
  if (register !== undefined) return [shownRegister(device, block, register)];
  if (blocks.includes(name as (typeof blocks)[number])) {
    if (lenient && name === 'control' && device.controlPage === undefined) return [];
    return blockNamed(name)
      .registers.filter(({ access }) => access !== 'wo' && access !== 'ro_side_effect')
      .map((each) => shownRegister(device, name, each.name));
  }
  const owners = blocks.filter((each) => blockNamed(each).registers.some((known) => known.name === name));
  if (owners.length === 1) return [shownRegister(device, owners[0]!, name)];
  throw new VerbsError(
    owners.length === 0
      ? `no block or register is named ${name}`
      : `${name} is a register of ${owners.join(' and ')}`,
    {
      code: 'EINVAL',
      verb: 'readRegister',
      attribute: name,
      expected:
        owners.length === 0
          ? `${blocks.join(', ')} or BLOCK.REGISTER as in fpga/doc/registers.md`
          : owners.map((owner) => `${owner}.${name}`).join(' or '),
    },
  );
}

function shownRegister(device: DeviceFunction, block: string, name: string): Shown {
  return { block, register: readNamed(pageOf(device, block), registerNamed(blockNamed(block), name)) };
}

function pageOf({ identityPage, page, controlPage }: DeviceFunction, block: string): RegisterPage {
  if (block === 'identity') return identityPage;
  if (block === 'underlying_function') return page;
  if (controlPage !== undefined) return controlPage;
  throw new VerbsError('the control registers belong to underlying function 0', {
    code: 'EPERM',
    verb: 'readRegister',
    attribute: 'control',
    expected: 'a device string of function 0: emu:0',
  });
}

/** A line for each element, and under it one for each field. Elements that are zero behind the first are left out. */
function linesOf({ block, register: { name, description, values, fields } }: Shown): [string, string][] {
  return values.flatMap((value, index) => {
    if (index > 0 && value === 0n) return [];
    const element = description.count > 1 ? `[${index}]` : '';
    const unit = description.unit === undefined ? '' : ` ${description.unit}`;
    const digits = description.width / 4;
    const hex = `0x${value.toString(16).padStart(digits, '0')}`;
    const decimal = description.fields.length === 0 ? `  (${value}${unit})` : '';
    const line: [string, string] = [`${block}.${name}${element}`, `${hex}${decimal}`];
    return [
      line,
      ...description.fields.map((field): [string, string] => [
        `  ${field.name}`,
        fieldText(field, fields[index]![field.name]!),
      ]),
    ];
  });
}

function fieldText({ enumeration, unit }: FieldDescription, value: number): string {
  const named = enumDescriptions
    .find(({ name }) => name === enumeration)
    ?.values.find((each) => each.value === value);
  if (named !== undefined) return argumentName(named.name);
  return unit === undefined ? `${value}` : `${value} ${unit}`;
}
