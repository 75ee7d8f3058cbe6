import { setTimeout } from 'node:timers/promises';

import { counterNames } from '../../driver/counters.ts';
import { VerbsError } from '../../driver/errors.ts';
import { CounterSample } from '../../watch/counter_sample.ts';
import type { Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import type { Scope } from '../scope.ts';
import { observedFunctions } from './functions.ts';
import { rateText } from './numbers.ts';

/** Options of `hca counters`. */
export interface CountersOptions {
  /** Names of counters, or of elements of counters; empty: all counters that are not zero. */
  readonly names: readonly string[];
  /** Also prints counters that are zero. */
  readonly all: boolean;
  /** Reads the counters twice, with this interval in milliseconds, and prints their rates; undefined: reads once. */
  readonly interval: number | undefined;
}

/**
 * `hca counters [NAME…]`: counters of the function, of all functions and of the device where it is the control function.
 * JSON: [{underlyingFunction, name, unit, value, perSecond}].
 */
export async function counters(
  output: Output,
  deviceString: string,
  { names, all, interval }: CountersOptions,
  scope: Scope,
): Promise<void> {
  const registers = names.length === 0 ? undefined : names.map((name) => registerOf(name));
  const functions = observedFunctions(scope, deviceString);
  let before: CounterSample | undefined;
  if (interval !== undefined) {
    before = new CounterSample(functions, registers);
    await setTimeout(interval, undefined, { signal: scope.signal });
  }
  const sample = new CounterSample(functions, registers);
  const shown = sample.counters
    .map(({ underlyingFunction, name, unit, value }, index) => ({
      underlyingFunction,
      name,
      unit,
      value,
      perSecond: before && sample.rateSince(before, index),
    }))
    .filter(
      ({ name, value }) =>
        (all || names.length > 0 || value !== 0n) &&
        (names.length === 0 || names.some((wanted) => name === wanted || name.startsWith(`${wanted}.`))),
    );
  output.value(shown);
  if (shown.length === 0) {
    output.text('All counters are 0; --all shows them.\n');
    return;
  }
  output.table(
    table(
      [
        { title: 'UF' },
        { title: 'COUNTER' },
        { title: 'VALUE', align: 'right' },
        ...(before === undefined ? [] : [{ title: 'PER SECOND', align: 'right' } as const]),
        { title: 'UNIT' },
      ],
      shown.map(({ underlyingFunction, name, unit, value, perSecond }) => [
        underlyingFunction === undefined ? '-' : `${underlyingFunction}`,
        name,
        value.toLocaleString('en'),
        ...(before === undefined ? [] : [rateText(perSecond)]),
        unit,
      ]),
    ),
  );
}

/** The register of a counter or of an element of a counter. */
function registerOf(name: string): string {
  const register = name.split('.', 1)[0]!;
  if (counterNames().includes(register)) return register;
  throw new VerbsError(`no counter is named ${name}`, {
    code: 'EINVAL',
    verb: 'readRegister',
    attribute: name,
    expected: `a name from hca counters --all, such as kicks, send_holds.fence or port_bytes_out.1`,
  });
}
