/** Names by value of an enum, as code writes them: `rdmaWrite` of `Opcode.rdmaWrite`. */
export function namesOf(values: Readonly<Record<string, number>>): Readonly<Record<number, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [value, name]));
}

/**
 * A value of an enum in the words of code: `Opcode.rdmaWrite`.
 * @param type name of the enum
 * @param names its names by value; a number that has none stays a number: `Opcode 77`
 */
export function enumText(type: string, names: Readonly<Record<number, string>>, value: unknown): string {
  const name = typeof value === 'number' ? names[value] : undefined;
  return name === undefined ? `${type} ${String(value)}` : `${type}.${name}`;
}
