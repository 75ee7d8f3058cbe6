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

/** A register to be written: `control.half_written_limit=0`, `underlying_function.queuing_structure_address[1]=0x1000`. */
interface Assignment {
  readonly name: string;
  readonly element: number;
  readonly value: bigint;
}

const notWritten = { code: 'EINVAL', verb: 'writeRegister' } as const;

/** Parses an argument; undefined: it names registers to read. @throws VerbsError EINVAL: it is neither */
function assignmentOf(word: string): Assignment | undefined {
  if (!word.includes('=')) return undefined;
  const [, name, element = '0', value] = /^([\w.]+)(?:\[(\d+)\])?=(0x[\da-f]+|\d+)$/i.exec(word) ?? [];
  if (name === undefined || value === undefined) {
    const expected = 'NAME=VALUE, or NAME[ELEMENT]=VALUE; a value is a whole number, such as 16 or 0x10';
    throw new VerbsError(`${word} sets no register`, { ...notWritten, attribute: word, expected });
  }
  return { name, element: Number(element), value: BigInt(value) };
}

/** Options of `hca registers`. */
export interface RegistersOptions {
  /** Allow writes of registers, which can stop the users of the device. */
  readonly write: boolean;
}

/**
 * `hca registers NAME=VALUE… --write`: writes registers in the order of the arguments, and then shows them.
 * @returns names of the registers to show
 * @throws VerbsError EINVAL: a register that cannot be written, or a value out of its range; EPERM: without `--write`; then no register is
 * written
 */
function writeRegisters(
  output: Output,
  device: DeviceFunction,
  assignments: readonly Assignment[],
  { write }: RegistersOptions,
): string[] {
  const writes = assignments.map(({ name, element, value }) => {
    const { block, register } = placeOf(name);
    const { access, width, count, stride, offset } = registerNamed(blockNamed(block), register);
    const refuse = (problem: string, expected: string): VerbsError =>
      new VerbsError(`${block}.${register} ${problem}`, { ...notWritten, attribute: name, expected });
    if (access === 'ro' || access === 'ro_side_effect')
      throw refuse('can only be read', 'a register of access rw, wo or w1c in fpga/doc/registers.md');
    if (element >= count) throw refuse(`has no element ${element}`, `0 to ${count - 1}`);
    if (value >> BigInt(width) !== 0n)
      throw refuse(`does not hold ${value}`, `0 to 0x${(2n ** BigInt(width) - 1n).toString(16)}`);
    return {
      page: pageOf(device, block),
      at: offset + element * stride,
      width,
      value,
      block,
      register,
      access,
    };
  });
  if (!write) {
    throw new VerbsError('writing a register can stop the device for all its users, or crash the machine', {
      code: 'EPERM',
      verb: 'writeRegister',
      attribute: '--write',
      expected: '--write, to confirm',
    });
  }
  output.warn('values are written as given, without the driver: the device may stop until it is reset');
  for (const { page, at, width, value } of writes) {
    if (width === 64) page.write64(at, value);
    else page.write32(at, Number(value));
  }
  return writes.filter(({ access }) => access !== 'wo').map(({ block, register }) => `${block}.${register}`);
}

/**
 * `hca registers [NAME…]`: shows registers, decoded. A name is a block, `block.register`, or a register that only one block has.
 * Without a name it shows all blocks that the function can access. JSON: [{block, register, offset, unit, values, fields}].
 */
export function registers(
  output: Output,
  deviceString: string,
  words: readonly string[],
  options: RegistersOptions,
): void {
  const assignments = words.flatMap((word) => assignmentOf(word) ?? []);
  const device = openDevice(deviceString);
  try {
    const written =
      assignments.length > 0 ? writeRegisters(output, device.driver.device, assignments, options) : [];
    const names = [...words.filter((word) => !word.includes('=')), ...written];
    const chosen = words.length === 0 ? blocks : names;
    const shown = chosen.flatMap((name) => shownOf(device.driver.device, name, words.length === 0));
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

/** The registers that a name selects. `lenient`: omits a block that the function cannot access. */
function shownOf(device: DeviceFunction, name: string, lenient: boolean): Shown[] {
  if (!name.includes('.') && isBlock(name)) {
    if (lenient && name === 'control' && device.controlPage === undefined) return [];
    return blockNamed(name)
      .registers.filter(({ access }) => access !== 'wo' && access !== 'ro_side_effect')
      .map((each) => shownRegister(device, name, each.name));
  }
  const { block, register } = placeOf(name);
  return [shownRegister(device, block, register)];
}

const isBlock = (name: string): boolean => blocks.some((block) => block === name);

/** Block and register of a name: `block.register`, or a register that only one block has. @throws VerbsError EINVAL: none, or several */
function placeOf(name: string): { readonly block: string; readonly register: string } {
  const [first, second] = name.split('.', 2) as [string, string | undefined];
  if (second !== undefined) return { block: first, register: second };
  const owners = blocks.filter((each) => blockNamed(each).registers.some((known) => known.name === name));
  if (owners.length === 1) return { block: owners[0]!, register: name };
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

/** A line for each element, followed by a line for each field. Omits zero elements behind the first. */
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
