import { inspect } from 'node:util';

/** Names by value of an enum. */
type Names = Readonly<Record<number, string>>;

/**
 * The same values, whose enums are printed by `console.log` and written as JSON by the names of code: `state: 'readyToSend'`.
 * @param names the enums, by key
 */
export function printedByName<Values extends object>(
  values: Values,
  names: Readonly<Partial<Record<keyof Values, Names>>>,
): Values {
  const named = (): object => namedValues(values, names);
  return Object.defineProperties(values, { toJSON: { value: named }, [inspect.custom]: { value: named } });
}

/** A copy with the names of enums in the place of their values. */
export function namedValues<Values extends object>(
  values: Values,
  names: Readonly<Partial<Record<keyof Values, Names>>>,
): object {
  const entries = Object.entries(names) as [keyof Values, Names][];
  return {
    ...values,
    ...Object.fromEntries(entries.map(([key, table]) => [key, table[values[key] as number] ?? values[key]])),
  };
}
