import {
  packetDropNames,
  portDiscardNames,
  roomWaitNames,
  sendHoldNames,
  type RegisterDescription,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { blockNamed, readElements } from './named_registers.ts';
import type { RegisterPage } from './register_page.ts';

/** A counter value; it only grows, until its function or the device is reset. */
export interface Counter {
  /** Its function; undefined: the device. */
  readonly underlyingFunction: number | undefined;
  /** Name of its register, with the element if there are several: `kicks`, `send_holds.fence`, `port_packets_out.1`. */
  readonly name: string;
  /** `events`, `packets` or `bytes`. */
  readonly unit: string;
  readonly value: bigint;
  /** Description from the specification. */
  readonly doc: string;
}

const units = ['events', 'packets', 'bytes'];
const causes: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  send_holds: sendHoldNames,
  room_waits: roomWaitNames,
  credit_waits: { 0: 'execution', 1: 'completion' },
  packets_dropped: packetDropNames,
};
const discardsOfPort = 8;

/** A register is a counter if the specification says that it only grows: read-only, 64 bits, with a unit to count. */
const isCounter = ({ access, width, unit, fields }: RegisterDescription): boolean =>
  access === 'ro' && width === 64 && fields.length === 0 && unit !== undefined && units.includes(unit);

/** The registers of a page that are counters. */
function countersOf(block: string): readonly RegisterDescription[] {
  return blockNamed(block).registers.filter(isCounter);
}

/** Name of an element of a counter; undefined: that element is unused. */
function elementName({ name, count }: RegisterDescription, index: number): string | undefined {
  if (count === 1) return name;
  if (name === 'port_discards') {
    const cause = portDiscardNames[index % discardsOfPort];
    return cause && `${name}.${Math.floor(index / discardsOfPort) + 1}.${snake(cause)}`;
  }
  if (name.startsWith('port_')) return `${name}.${index + 1}`;
  const cause = causes[name]?.[index];
  return cause && `${name}.${snake(cause)}`;
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Names of counters of functions and of the device, for messages. */
export function counterNames(): string[] {
  return ['underlying_function', 'control'].flatMap((block) => countersOf(block).map(({ name }) => name));
}

/** Names of the causes for which commands of a function wait, by counter. */
export const stallCounters = [
  'send_holds',
  'room_waits',
  'credit_waits',
  'dedicated_waits',
  'list_refusals',
  'send_queue_mode_entered',
] as const;

/**
 * Reads the counters of an open or observed function, and those of the device if it is the control function. Each value is from the moment
 * of its own read.
 * @param wanted names of registers; undefined: all
 */
export function readCounters(
  { page, controlPage, underlyingFunction }: DeviceFunction,
  wanted?: readonly string[],
): Counter[] {
  const own = read(page, 'underlying_function', underlyingFunction, wanted);
  return controlPage === undefined ? own : [...own, ...read(controlPage, 'control', undefined, wanted)];
}

function read(
  page: RegisterPage,
  block: string,
  underlyingFunction: number | undefined,
  wanted: readonly string[] | undefined,
): Counter[] {
  const registers = countersOf(block).filter(({ name }) => wanted === undefined || wanted.includes(name));
  const values = readElements(page, registers);
  return registers.flatMap((register, place) =>
    values[place]!.flatMap((value, index): Counter[] => {
      const name = elementName(register, index);
      if (name === undefined) return [];
      return [{ underlyingFunction, name, unit: register.unit!, value, doc: register.doc }];
    }),
  );
}
