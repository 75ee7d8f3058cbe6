import { blockDescriptions, type BlockDescription, type RegisterDescription } from '../spec/index.ts';
import { VerbsError } from './errors.ts';
import type { RegisterPage } from './register_page.ts';

/** A register as it was read: a value of each element, and its fields where it has some. */
export interface NamedRegister {
  readonly name: string;
  readonly description: RegisterDescription;
  /** One; as many as the register has elements. */
  readonly values: readonly bigint[];
  /** By name, of each element; empty where the register is one value. */
  readonly fields: readonly Readonly<Record<string, number>>[];
}

/** The description of a page of registers. @throws VerbsError EINVAL: there is none of this name */
export function blockNamed(name: string): BlockDescription {
  const found = blockDescriptions.find((block) => block.name === name);
  if (found === undefined) throw unknown('block of registers', name, blockDescriptions);
  return found;
}

/** The description of a register. @throws VerbsError EINVAL: the block has none of this name */
export function registerNamed(block: BlockDescription, name: string): RegisterDescription {
  const found = block.registers.find((register) => register.name === name);
  if (found === undefined) throw unknown(`register in ${block.name}`, name, block.registers);
  return found;
}

/** Reads a register with all of its elements. Those that can only be written read 0. */
export function readNamed(page: RegisterPage, description: RegisterDescription): NamedRegister {
  const { name } = description;
  const [values] = readElements(page, [description]) as [bigint[]];
  return { name, description, values, fields: values.map((value) => fieldsOf(description, value)) };
}

/** The elements of some registers, which are read in a row. */
export function readElements(page: RegisterPage, registers: readonly RegisterDescription[]): bigint[][] {
  const words = page.access(
    registers.flatMap(({ offset, width, count, stride }) =>
      Array.from({ length: count }, (_, index) => offset + index * stride).flatMap(
        (at) => (width === 64 ? [{ offset: at }, { offset: at + 4 }] : [{ offset: at }]), // the low half latches the high one
      ),
    ),
  );
  let next = 0;
  const take = (): bigint => BigInt(words[next++]!);
  return registers.map(({ width, count }) =>
    Array.from({ length: count }, () => {
      const low = take();
      return width === 64 ? (take() << 32n) | low : low;
    }),
  );
}

/** The fields of a value of a register, by name. */
export function fieldsOf(description: RegisterDescription, value: bigint): Record<string, number> {
  return Object.fromEntries(
    description.fields.map(({ name, bit, width }) => [
      name,
      Number((value >> BigInt(bit)) & ((1n << BigInt(width)) - 1n)),
    ]),
  );
}

function unknown(what: string, name: string, known: readonly { readonly name: string }[]): VerbsError {
  const expected = known.map((each) => each.name).join(', ');
  return new VerbsError(`no ${what} is named ${name}; there are ${expected}`, {
    code: 'EINVAL',
    verb: 'readRegister',
    attribute: name,
    expected,
  });
}
