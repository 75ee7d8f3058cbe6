import { stallCounters } from '../driver/counters.ts';
import type { Occupancy } from '../driver/occupancy.ts';
import type { CounterSample } from './counter_sample.ts';

/** Rates of a function, a second; undefined before the second look. */
export interface FunctionRates {
  readonly kicks: number | undefined;
  readonly sent: number | undefined;
  readonly failed: number | undefined;
  /** By cause: commands that had to wait. */
  readonly stalls: Readonly<Record<string, number>>;
}

/** Traffic of a port a second. */
export interface PortRates {
  readonly port: number;
  readonly packetsOut: number | undefined;
  readonly bytesOut: number | undefined;
  readonly packetsIn: number | undefined;
  readonly bytesIn: number | undefined;
}

/** Counters that rates are of. */
export const countersOfRates: readonly string[] = [
  'kicks',
  'scheduled_kicks',
  'commands_sent',
  'commands_failed',
  ...stallCounters,
  'port_packets_out',
  'port_bytes_out',
  'port_packets_in',
  'port_bytes_in',
];

/** Rates of counters by function and name. */
export class Rates {
  private readonly byName = new Map<string, number | undefined>();

  constructor(sample: CounterSample, before: CounterSample | undefined) {
    for (const [index, { underlyingFunction, name }] of sample.counters.entries())
      this.byName.set(`${underlyingFunction}.${name}`, before && sample.rateSince(before, index));
  }

  /** A second; undefined: before the second sample. */
  of(underlyingFunction: number | undefined, name: string): number | undefined {
    return this.byName.get(`${underlyingFunction}.${name}`);
  }

  /** Of several. */
  sum(underlyingFunction: number | undefined, ...names: readonly string[]): number | undefined {
    const rates = names.map((name) => this.of(underlyingFunction, name));
    return rates.includes(undefined) ? undefined : rates.reduce<number>((sum, rate) => sum + rate!, 0);
  }

  /** Those of the stalls of a function that are not zero. */
  stalls(underlyingFunction: number | undefined): Record<string, number> {
    return Object.fromEntries(
      [...this.byName].flatMap(([key, rate]): [string, number][] => {
        const [owner, name, ...rest] = key.split('.');
        const isStall = owner === `${underlyingFunction}` && stallCounters.some((stall) => stall === name);
        return isStall && rate !== undefined && rate > 0 ? [[[name, ...rest].join('.'), rate]] : [];
      }),
    );
  }
}

/** Of the lanes that all functions share: undefined. */
export function functionRates(rates: Rates, { underlyingFunction }: Occupancy): FunctionRates | undefined {
  if (underlyingFunction === undefined) return undefined;
  return {
    kicks: rates.sum(underlyingFunction, 'kicks', 'scheduled_kicks'),
    sent: rates.of(underlyingFunction, 'commands_sent'),
    failed: rates.of(underlyingFunction, 'commands_failed'),
    stalls: rates.stalls(underlyingFunction),
  };
}

/** @param ports how many the device has */
export function portRates(rates: Rates, ports: number): PortRates[] {
  return Array.from({ length: ports }, (_, index) => {
    const of = (name: string): number | undefined => rates.of(undefined, `port_${name}.${index + 1}`);
    return {
      port: index + 1,
      packetsOut: of('packets_out'),
      bytesOut: of('bytes_out'),
      packetsIn: of('packets_in'),
      bytesIn: of('bytes_in'),
    };
  });
}
