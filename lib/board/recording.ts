import type { BoardOptions, Transaction } from './addon.ts';

/** Recorded transactions, and the board that they were recorded on. */
export interface Recording {
  /** Options that create the same board again. */
  readonly options: BoardOptions;
  /** Transactions, oldest first. */
  readonly transactions: readonly Transaction[];
}

const format = 'fpga-verbs recording';
const version = 1;

/** Formats a recording as JSON lines: a header line, then one line for each transaction. */
export function formatRecording({ options, transactions }: Recording): string {
  const lines = transactions.map(({ kind, underlyingFunction, bar, offset, data, byteEnables, time }) =>
    JSON.stringify({
      kind,
      underlyingFunction,
      bar,
      offset,
      data: Buffer.from(data).toString('hex'),
      byteEnables: byteEnables.toString(16),
      time: time.toString(),
    }),
  );
  return [JSON.stringify({ format, version, options }), ...lines, ''].join('\n');
}

/** Parses the text of formatRecording(). @throws TypeError that names the invalid line */
export function parseRecording(text: string): Recording {
  const [first = '', ...lines] = text.split('\n');
  const header = parseLine(first, 1);
  if (header['format'] !== format || header['version'] !== version) {
    throw new TypeError(`line 1: not an ${format} of version ${version}`);
  }
  return {
    options: header['options'] as BoardOptions,
    transactions: lines.flatMap((line, index) => (line === '' ? [] : [transactionOf(line, index + 2)])),
  };
}

function transactionOf(line: string, number: number): Transaction {
  const fields = parseLine(line, number);
  const { kind, underlyingFunction, bar, offset, data, byteEnables, time } = fields;
  if (
    (kind !== 'write' && kind !== 'read') ||
    typeof underlyingFunction !== 'number' ||
    typeof bar !== 'number' ||
    typeof offset !== 'number' ||
    typeof data !== 'string' ||
    !/^([0-9a-f]{8}){1,16}$/.test(data) ||
    typeof byteEnables !== 'string' ||
    !/^[0-9a-f]{1,16}$/.test(byteEnables) ||
    typeof time !== 'string' ||
    !/^\d+$/.test(time)
  ) {
    throw new TypeError(`line ${number}: not a transaction: ${line}`);
  }
  return {
    kind,
    underlyingFunction,
    bar,
    offset,
    data: Uint8Array.from(Buffer.from(data, 'hex')),
    byteEnables: BigInt(`0x${byteEnables}`),
    time: BigInt(time),
  };
}

function parseLine(line: string, number: number): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch (error) {
    throw new TypeError(`line ${number}: not JSON`, { cause: error });
  }
}
