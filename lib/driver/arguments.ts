// Errors about arguments, in the caller's words: the path of the argument, the rule, and the value given. Each error has the path as
// `attribute` and the rule as `expected`.
import { given } from '../spec/given.ts';
import { encode, formatDescriptions } from '../spec/index.ts';
import { VerbsError } from './errors.ts';

/** The names that libibverbs has for keys of work requests, options and attributes, with their names here. */
const meant: Readonly<Record<string, string>> = {
  ah: 'addressHandle',
  ah_attr: 'addressVector',
  atomic: 'remote, compareAdd and swap',
  bind_mw: 'bind',
  cap: 'capabilities',
  compare_add: 'compareAdd',
  cq_count: 'count',
  cq_period: 'period',
  cqe: 'entries',
  dest_qp_num: 'destinationQueuePair',
  imm_data: 'immediateData',
  invalidate_rkey: 'invalidateKey',
  max_inline_data: 'maxInlineData',
  max_recv_sge: 'maxScatterEntries',
  max_recv_wr: 'maxReceiveWorkRequests',
  max_send_sge: 'maxGatherEntries',
  max_send_wr: 'maxSendWorkRequests',
  max_sge: 'maxScatterEntries',
  max_wr: 'maxWorkRequests',
  min_rnr_timer: 'minReceiverNotReadyTimer',
  next: 'an array of requests',
  num_sge: 'the length of the list',
  path_mtu: 'pathMtu',
  pkey_index: 'partitionKeyIndex',
  port_num: 'port',
  qkey: 'queueKey',
  qp_access_flags: 'accessFlags',
  qp_state: 'state',
  qp_type: 'type',
  rdma: 'remote',
  recv_cq: 'receiveCompletionQueue',
  remote_addr: 'remote',
  remote_qkey: 'queueKey',
  remote_qpn: 'destinationQueuePair',
  retry_cnt: 'retryCount',
  rkey: 'remote',
  rnr_retry: 'receiverNotReadyRetry',
  rq_psn: 'receivePsn',
  send_cq: 'sendCompletionQueue',
  send_flags: 'signaled, fence, solicited and inlineData',
  sg_list: 'gather (of a receive: scatter)',
  sges: 'gather (of a receive: scatter)',
  sq_psn: 'sendPsn',
  sq_sig_all: 'signalAll',
  srq: 'sharedReceiveQueue',
  ud: 'addressHandle, destinationQueuePair and queueKey',
  wr_id: 'wrId',
};

/** Properties of an error on an argument. */
export interface WrongArgument {
  /** Path of the argument: `requests[3].gather[0].length`. */
  readonly attribute: string;
  /** The rule that the value breaks. */
  readonly expected: string;
}

function messageOf(path: string, expected: string, value: unknown): string {
  return `${path} must be ${expected}, got ${given(value)}`;
}

/** The error for a value of the wrong type. @param expected completes `path must be …` */
export function wrongType(path: string, expected: string, value: unknown): TypeError & WrongArgument {
  return Object.assign(new TypeError(messageOf(path, expected, value)), { attribute: path, expected });
}

/** The error for a value out of its range. @param expected completes `path must be …` */
export function wrongRange(path: string, expected: string, value: unknown): RangeError & WrongArgument {
  return Object.assign(new RangeError(messageOf(path, expected, value)), { attribute: path, expected });
}

/**
 * The error for a value that the verb does not accept: EINVAL.
 * @param expected completes `path must be …`
 * @param got the value in words, if {@link given} is not enough
 */
export function invalid(
  verb: string,
  path: string,
  expected: string,
  value: unknown,
  got = given(value),
): VerbsError {
  const message = `${path} must be ${expected}, got ${got}`;
  return new VerbsError(message, { code: 'EINVAL', verb, attribute: path, expected });
}

/** @throws VerbsError EINVAL: not an integer from `least` to `most` */
export function checkRange(verb: string, path: string, value: unknown, least: number, most: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return;
  throw invalid(verb, path, least === most ? `${least}` : `${least} to ${most}`, value);
}

/** Whether a number is a 32-bit integer. */
export function isUint32(value: number): boolean {
  return value >>> 0 === value;
}

/** Describes an integer of this many bits, for an error message. */
export function bits(width: number): string {
  return `0 to ${2 ** width - 1}`;
}

/**
 * Throws if an object has unknown keys. TypeScript detects them earlier; plain JavaScript would ignore them.
 * @param known the allowed keys
 * @param path of the object, with a dot behind it; '' for the argument itself
 * @throws TypeError that suggests the right name
 */
export function checkKeys(known: ReadonlySet<string>, object: object, path = ''): void {
  for (const key in object) if (!known.has(key)) throw unknownKey(known, key, path);
}

/** The error for a key that is not in `known`. */
export function unknownKey(known: ReadonlySet<string>, key: string, path = ''): TypeError & WrongArgument {
  const names = [...known].join(', ');
  const same = [...known].find((each) => plain(each) === plain(key));
  const right = same ?? (Object.hasOwn(meant, key) ? meant[key] : undefined);
  const cure = right === undefined ? `the keys are ${names}` : `use ${right}`;
  const attribute = `${path}${key}`;
  return Object.assign(new TypeError(`${attribute} is not known: ${cure}`), {
    attribute,
    expected: right ?? `one of ${names}`,
  });
}

const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** An error on an element of a list: its path begins with the element's. */
export function inElement(list: string, index: number, error: Error): void {
  const { attribute } = error as Partial<WrongArgument>;
  if (attribute === undefined || !error.message.startsWith(attribute)) return;
  const element = `${list}[${index}].`;
  const message = element + error.message;
  const stack = error.stack?.replace(error.message, () => message);
  Object.assign(error, { message, attribute: element + attribute, ...(stack !== undefined && { stack }) });
}

/** The argument for a field of the specification: `pathMtu` for `path_mtu`. */
export function argumentName(field: string): string {
  return field.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A structure of arguments; as {@link checkFields}. */
export function encodeArguments(
  format: string,
  fields: Readonly<Record<string, unknown>>,
  pathOf: (field: string) => string = argumentName,
): Uint8Array {
  checkFields(format, fields, pathOf);
  return encode(format, fields as Parameters<typeof encode>[1]);
}

/**
 * Checks that arguments fit their fields.
 * @param format name of the structure in the specification
 * @param pathOf path of the argument of a field
 * @throws TypeError neither number nor bigint, or not the bytes of the field; RangeError: not an integer of its width
 */
export function checkFields(
  format: string,
  fields: Readonly<Record<string, unknown>>,
  pathOf: (field: string) => string,
): void {
  const { fields: known } = formatDescriptions.find(({ name }) => name === format)!;
  const names = known.map(({ name }) => name);
  for (const [name, value] of Object.entries(fields)) {
    const field = known.find((each) => each.name === name);
    if (field === undefined) throw unknownKey(new Set(names.map(argumentName)), pathOf(name));
    const { width, count, shape } = field;
    if (shape === 'bytes') {
      if (value instanceof Uint8Array && value.length === count) continue;
      throw wrongType(pathOf(name), `a Uint8Array of ${count} bytes`, value);
    }
    const isNumber = typeof value === 'number';
    if (!isNumber && typeof value !== 'bigint') throw wrongType(pathOf(name), 'a whole number', value);
    const isWhole = !isNumber || Number.isSafeInteger(value);
    if (isWhole && value >= 0 && value < 2 ** width) continue;
    throw wrongRange(pathOf(name), width < 53 ? bits(width) : `0 to 2^${width} - 1`, value);
  }
}
