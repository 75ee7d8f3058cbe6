import type { BoardOptions } from './addon.ts';

/** The device that a device string names. */
export type DeviceName =
  | { readonly backend: 'emu' | 'rtl'; readonly underlyingFunction: number; readonly options: BoardOptions }
  | { readonly backend: 'serve'; readonly path: string; readonly underlyingFunction: number | undefined }
  | { readonly backend: 'pci' | 'vfio'; readonly address: string };

type OptionKind = 'text' | 'number' | 'fraction' | 'flag' | readonly string[];

/** Options of an emulated board in a device string: those of {@link BoardOptions}, with the same names. */
const optionKinds: Readonly<Record<keyof BoardOptions, OptionKind>> = {
  name: 'text',
  progress: ['shared', 'own', 'stepped'],
  deviceCpu: 'number',
  sleepAfter: 'number',
  seed: 'number',
  mapping: ['write_combining', 'adversarial', 'uncached'],
  doubleWordOnly: 'flag',
  acknowledgeCoalescing: 'flag',
  underlyingFunctions: 'number',
  virtualCollectBuffers: 'number',
  physicalCollectBuffers: 'number',
  dedicatedPhysicalCollectBuffers: 'number',
  managementPhysicalCollectBuffers: 'number',
  transmitVirtualLanes: 'number',
  executionCreditsPerLane: 'number',
  completionCreditsPerLane: 'number',
  sharedExecutionCredits: 'number',
  sharedCompletionCredits: 'number',
  sharedExecutionCreditsCap: 'number',
  sharedCompletionCreditsCap: 'number',
  queuePairContextsCached: 'number',
  queuePairs: 'number',
  completionQueues: 'number',
  pageTableEntries: 'number',
  memoryKeys: 'number',
  schedulerBatch: 'number',
  ports: 'number',
  linkLayer: ['ethernet', 'infiniband'],
  fabric: 'text',
  link: 'text',
  boardNumber: 'number',
  linkLoss: 'fraction',
  linkDuplication: 'fraction',
  linkCorruption: 'fraction',
  linkReordering: 'fraction',
  linkDelay: 'number',
  linkRate: 'number',
  bitErrors: 'fraction',
  doubleBitErrors: 'fraction',
  dmaLatency: 'number',
  dmaLatencyMost: 'number',
  capture: 'text',
  scoreboardVariant: ['masked', 'direct'],
};

const forms = [
  'emu:[UF]?progress=shared|own|stepped&name=N&…',
  'rtl:[UF]?…',
  'serve:PATH[/UF]',
  'pci:DDDD:BB:DD.F',
  'vfio:DDDD:BB:DD.F',
].join(', ');

/** An invalid device string; the message names the invalid part. */
export class DeviceStringError extends TypeError {
  override readonly name = 'DeviceStringError';
  /** Name of the system's error number. */
  readonly code = 'EINVAL';
}

/** The effective device string: the argument, otherwise the environment variable FPGA_VERBS_DEVICE, otherwise `emu:`. */
export function chosenDeviceString(given?: string): string {
  return given ?? (process.env['FPGA_VERBS_DEVICE'] || 'emu:');
}

/**
 * Parses a device string.
 * @throws DeviceStringError that names the invalid part and what would be right
 */
export function parseDeviceString(text: string): DeviceName {
  if (typeof text !== 'string') throw new TypeError(`a device string must be a string, got ${typeof text}`);
  const colon = text.indexOf(':');
  const backend = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? '' : text.slice(colon + 1);
  switch (backend) {
    case 'emu':
    case 'rtl':
      return parseEmulated(text, backend, rest);
    case 'serve':
      return parseServed(text, rest);
    case 'pci':
    case 'vfio':
      return parseFunction(text, backend, rest);
    default:
      throw wrong(text, `no backend "${backend}"`, `one of ${forms}`);
  }
}

/** Formats a device string; parseDeviceString() is the inverse. */
export function formatDeviceString(name: DeviceName): string {
  switch (name.backend) {
    case 'emu':
    case 'rtl': {
      const number = name.underlyingFunction === 0 ? '' : `${name.underlyingFunction}`;
      const options = Object.entries(name.options).map(
        ([option, value]) => `${option}=${encodeURIComponent(String(value))}`,
      );
      return `${name.backend}:${number}${options.length > 0 ? `?${options.join('&')}` : ''}`;
    }
    case 'serve':
      return `serve:${name.path}${name.underlyingFunction === undefined ? '' : `/${name.underlyingFunction}`}`;
    case 'pci':
    case 'vfio':
      return `${name.backend}:${name.address}`;
  }
}

function parseEmulated(text: string, backend: 'emu' | 'rtl', rest: string): DeviceName {
  const question = rest.indexOf('?');
  const number = question < 0 ? rest : rest.slice(0, question);
  const query = question < 0 ? '' : rest.slice(question + 1);
  return {
    backend,
    underlyingFunction: number === '' ? 0 : parseUnderlyingFunction(text, number),
    options: query === '' ? {} : parseOptions(text, query),
  };
}

function parseOptions(text: string, query: string): BoardOptions {
  const options: Record<string, string | number | boolean> = {};
  for (const part of query.split('&')) {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    if (!Object.hasOwn(optionKinds, name)) {
      throw wrong(text, `no option "${name}"`, `one of ${Object.keys(optionKinds).join(', ')}`);
    }
    if (Object.hasOwn(options, name)) throw wrong(text, `option "${name}" twice`, 'each option once');
    if (equals < 0) throw wrong(text, `option "${name}" without a value`, `${name}=…`);
    const value = decodeOption(text, part.slice(equals + 1));
    options[name] = optionValue(text, name, value, optionKinds[name as keyof BoardOptions]);
  }
  return options;
}

function decodeOption(text: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw wrong(text, `"${value}"`, '% followed by two hexadecimal digits');
  }
}

function optionValue(text: string, name: string, value: string, kind: OptionKind): string | number | boolean {
  if (kind === 'text') {
    if (value === '') throw wrong(text, `an empty ${name}`, `${name}=TEXT`);
    return value;
  }
  if (kind === 'flag') {
    if (value !== 'true' && value !== 'false') throw wrong(text, `${name}=${value}`, 'true or false');
    return value === 'true';
  }
  if (kind === 'number') {
    const number = Number(value);
    if (!/^\d+$/.test(value) || !Number.isSafeInteger(number)) {
      throw wrong(text, `${name}=${value}`, 'a whole number');
    }
    return number;
  }
  if (kind === 'fraction') {
    const number = Number(value);
    if (!/^(\d+\.?\d*|\.\d+)(e-\d+)?$/.test(value) || number > 1) {
      throw wrong(text, `${name}=${value}`, 'a number from 0 to 1');
    }
    return number;
  }
  if (!kind.includes(value)) throw wrong(text, `${name}=${value}`, kind.join(', '));
  return value;
}

/** If the part after the last slash is a number, it is the function. Otherwise it belongs to the path, and any free function is opened. */
function parseServed(text: string, rest: string): DeviceName {
  const slash = rest.lastIndexOf('/');
  const last = rest.slice(slash + 1);
  const isNumbered = /^\d+$/.test(last);
  const path = isNumbered ? rest.slice(0, Math.max(0, slash)) : rest;
  if (path === '' || path.endsWith('/')) {
    throw wrong(
      text,
      `"${rest}"`,
      'serve:PATH/UF, the path of a socket or the name of a served board, and a function',
    );
  }
  return {
    backend: 'serve',
    path,
    underlyingFunction: isNumbered ? parseUnderlyingFunction(text, last) : undefined,
  };
}

function parseFunction(text: string, backend: 'pci' | 'vfio', rest: string): DeviceName {
  if (!/^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$/i.test(rest)) {
    throw wrong(text, `PCI address "${rest}"`, 'DDDD:BB:DD.F, as lspci -D prints it');
  }
  return { backend, address: rest.toLowerCase() };
}

function parseUnderlyingFunction(text: string, value: string): number {
  if (!/^\d{1,3}$/.test(value)) throw wrong(text, `underlying function "${value}"`, 'a whole number');
  return Number(value);
}

function wrong(text: string, part: string, expected: string): DeviceStringError {
  return new DeviceStringError(`device "${text}": ${part}; expected: ${expected}`);
}
