import { setTimeout } from 'node:timers/promises';

import type { DeviceFunction } from '../../driver/device_function.ts';
import { blockNamed, readNamed, registerNamed } from '../../driver/named_registers.ts';
import { readOccupancy, type LaneOccupancy, type Occupancy } from '../../driver/occupancy.ts';
import { qualityOfServiceLevelNames } from '../../spec/index.ts';
import { CounterSample } from '../../watch/counter_sample.ts';
import {
  Rates,
  countersOfRates,
  functionRates,
  portRates,
  type FunctionRates,
  type PortRates,
} from '../../watch/rates.ts';
import { lines } from '../output/lines.ts';
import type { Output } from '../output/output.ts';
import { table, type Column } from '../output/table.ts';
import type { Scope } from '../scope.ts';
import { observedFunctions } from './functions.ts';
import { byteRateText, rateText } from './numbers.ts';

/** Options of `hca top`. */
export interface TopOptions {
  /** Number of samples; 0: until the command is interrupted. */
  readonly count: number;
  /** Interval between samples in milliseconds. */
  readonly interval: number;
}

const right = (title: string): Column => ({ title, align: 'right' });
const columns: readonly Column[] = [
  { title: 'UF' },
  ...['KICKS/S', 'SENT/S', 'VCBS', 'SQM', 'ERR', 'PCBS', 'LISTED', 'EXEC', 'COMPL', 'STALLS/S'].map(right),
];
/** Moves the terminal's cursor to the start and clears the screen after it. */
const home = '\x1b[H\x1b[J';

/**
 * `hca top`: shows rates and resources in use of a board's functions, repeatedly; through a function other than the control function, only its
 * own. It observes a board that a driver may be using. JSON: a line per sample: {functions, ports}, of {@link Occupancy} with perSecond.
 */
export async function top(
  output: Output,
  deviceString: string,
  { count, interval }: TopOptions,
  scope: Scope,
): Promise<void> {
  const { signal } = scope;
  const looks = count === 0 ? Infinity : count;
  const functions = observedFunctions(scope, deviceString);
  let before: CounterSample | undefined;
  for (let look = 0; look < looks; look++) {
    if (look > 0) {
      try {
        await setTimeout(interval, undefined, { signal });
      } catch (error) {
        if (count > 0 || !signal.aborted) throw error;
        return; // interrupted, which is the usual end
      }
    }
    const sample = new CounterSample(functions, countersOfRates);
    const rates = new Rates(sample, before);
    before = sample;
    const occupancy = readOccupancy(functions[0]!);
    const ports =
      functions[0]!.controlPage === undefined ? [] : portRates(rates, functions[0]!.identity.ports);
    const timeWaits = timeWaitsOf(functions[0]!);
    output.value({
      functions: occupancy.map((each) => ({ ...each, perSecond: functionRates(rates, each) })),
      ports,
      ...(timeWaits === undefined ? {} : { numbersInTimeWait: timeWaits }),
    });
    if (look > 0) output.text(output.isTerminal ? home : '\n');
    output.table(textOf(occupancy, rates, ports, timeWaits));
  }
}

/** The count of numbers in time-wait; undefined: the function cannot read the control registers. */
function timeWaitsOf({ controlPage }: DeviceFunction): number | undefined {
  if (controlPage === undefined) return undefined;
  return Number(
    readNamed(controlPage, registerNamed(blockNamed('control'), 'numbers_in_time_wait')).values[0]!,
  );
}

function textOf(
  occupancy: readonly Occupancy[],
  rates: Rates,
  ports: readonly PortRates[],
  timeWaits: number | undefined,
): string {
  const rows = occupancy.map((each) => rowOf(each, functionRates(rates, each)));
  return [
    table(columns, rows),
    ...occupancy.filter(({ executionCredits }) => executionCredits === undefined).map(levelsText),
    ...ports.map(
      ({ port, packetsOut, bytesOut, packetsIn, bytesIn }) =>
        `port ${port}: out ${rateText(packetsOut)} packets/s, ${byteRateText(bytesOut)}; ` +
        `in ${rateText(packetsIn)} packets/s, ${byteRateText(bytesIn)}\n`,
    ),
    ...occupancy.map((each) => stallsText(each, functionRates(rates, each))),
    timeWaits === undefined || timeWaits === 0 ? '' : `queue pair numbers in time-wait: ${timeWaits}\n`,
  ].join('');
}

/** A value that the function can read. */
const seen = (value: number | undefined): string => (value === undefined ? '-' : `${value}`);
/** Free own credits and held shared credits. */
const creditsText = (own: number | undefined, shared: number | undefined): string =>
  own === undefined ? '-' : `${own}+${seen(shared)}`;

function rowOf(each: Occupancy, rates: FunctionRates | undefined): string[] {
  const of = (text: string): string => (rates === undefined ? '' : text);
  const stalls = rates && Object.values(rates.stalls).reduce((sum, rate) => sum + rate, 0);
  return [
    each.underlyingFunction === undefined ? 'any' : `${each.underlyingFunction}`,
    of(rateText(rates?.kicks)),
    of(rateText(rates?.sent)),
    of(`${each.virtualCollectBuffersInUse}/${each.virtualCollectBuffers}`),
    of(seen(each.sendQueueMode)),
    of(seen(each.error)),
    of(`${each.physicalCollectBuffers}/${each.ownPhysicalCollectBuffers}`),
    seen(each.commandsListed),
    creditsText(each.executionCredits, each.sharedExecutionCredits),
    creditsText(each.completionCredits, each.sharedCompletionCredits),
    of(rateText(rates?.kicks === undefined ? undefined : stalls)),
  ];
}

/** A function that cannot read lanes reads the credits of its levels. */
function levelsText({ levels }: Occupancy): string {
  const textOfLevel = (level: LaneOccupancy, index: number): string =>
    `${qualityOfServiceLevelNames[index as 0 | 1]}: ${level.lanes} lanes, execution ${creditsText(
      level.executionCredits,
      level.sharedExecutionCredits,
    )}, completion ${creditsText(level.completionCredits, level.sharedCompletionCredits)}`;
  return levels.map((level, index) => `level ${textOfLevel(level, index)}\n`).join('');
}

function stallsText({ underlyingFunction }: Occupancy, rates: FunctionRates | undefined): string {
  const stalls = Object.entries(rates?.stalls ?? {});
  if (stalls.length === 0) return '';
  return lines(
    `stalls of ${underlyingFunction}: `,
    stalls.map(([name, rate]) => `${name} ${rateText(rate)}/s`),
  );
}
