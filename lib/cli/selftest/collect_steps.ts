import { refusalNames, virtualCollectBufferStateNames, VirtualCollectBufferState } from '../../spec/index.ts';
import type { Bench } from './bench.ts';
import { SelftestFailure, hex } from './failure.ts';
import type { HandWrittenCommand } from './hand_written_command.ts';

/**
 * The example of US8589610. A row has the first and last segment of a write, as byte offsets in a command of 16 B, and the segments
 * that the scoreboard then has or does not need.
 */
const rows: readonly (readonly [first: number, last: number, check: bigint])[] = [
  [0x10, 0x10, 0x00_0000_0004n],
  [0x20, 0x38, 0x00_0000_00f4n],
  [0x00, 0x00, 0xff_ffff_fcf5n],
  [0x08, 0x08, 0xff_ffff_fcf7n],
  [0x18, 0x18, 0xff_ffff_fcffn],
];
/** The row that completes the command. */
const lastRow = [0x40, 0x48] as const;

const collecting =
  'the mapping of the virtual collect buffers and its byte enables, collect_buffer; control.inspect_scoreboard shows the segments that arrived';
const kicking = 'collect_buffer: scoreboard, mask, kick; underlying_function.commands_refused, and events';

/** Writes all rows of the patent's table but the last, and checks the scoreboard after each. */
export function collectRowByRow({ command }: Bench): string {
  if (command.isInUse) {
    throw new SelftestFailure(`VCB ${command.buffer.number} is in use before any write`, collecting);
  }
  const kicks = command.kicks;
  command.encode();
  for (const [index, [first, last, check]] of rows.entries()) {
    command.write(first, last);
    const row = `row ${index + 1}, segments at ${hex(first, 2)} to ${hex(last, 2)}`;
    if (command.kicks !== kicks)
      throw new SelftestFailure(`${row}: an incomplete command was kicked`, kicking);
    if (!command.isInUse)
      throw new SelftestFailure(`${row}: the VCB is free, so no write arrived`, collecting);
    if (command.canInspect) checkRow(command, row, check);
  }
  const shown = command.canInspect ? 'scoreboards as they should be' : 'function 0 alone sees scoreboards';
  return `${rows.length} rows of the patent's table, ${shown}`;
}

/** Writes the last row, which completes the command. */
export async function kickOnce(bench: Bench): Promise<string> {
  const { command } = bench;
  const kicks = command.kicks;
  command.write(...lastRow);
  const row = `row ${rows.length + 1}, segments at ${hex(lastRow[0], 2)} to ${hex(lastRow[1], 2)}`;
  if (!(await bench.until(() => command.kicks !== kicks))) {
    const { state, check } = command.canInspect ? command.inspect() : { state: undefined, check: 0n };
    const missing = state === VirtualCollectBufferState.collecting ? `; ${missingText(~check & ones)}` : '';
    throw new SelftestFailure(`${row}: the command is complete but was not kicked${missing}`, kicking);
  }
  if (command.kicks !== kicks + 1n) {
    throw new SelftestFailure(`${row}: one command was kicked ${command.kicks - kicks} times`, kicking);
  }
  if (!(await bench.until(() => !command.isInUse && command.buffersInUse === 0))) {
    const held = command.isInUse ? `VCB ${command.buffer.number}` : `${command.buffersInUse} PCBs`;
    throw new SelftestFailure(
      `${held} in use long after the kick`,
      'how collect_buffer, virtual_kick and queue_pair_fetch give a PCB back; underlying_function.commands_failed',
    );
  }
  return 'one kick; VCB and PCB are free again';
}

const ones = (1n << 40n) - 1n;

function checkRow(command: HandWrittenCommand, row: string, expected: bigint): void {
  const { state, refusal, check } = command.inspect();
  if (state !== VirtualCollectBufferState.collecting) {
    const refused = state === VirtualCollectBufferState.error ? `: ${refusalNames[refusal] ?? refusal}` : '';
    throw new SelftestFailure(
      `${row}: the VCB is ${virtualCollectBufferStateNames[state] ?? state}${refused}`,
      collecting,
    );
  }
  if (check === expected) return;
  const missing = expected & ~check;
  const found = `the scoreboard has ${hex(check, 10)}, not ${hex(expected, 10)}`;
  const what = missing === 0n ? 'more arrived than was written' : missingText(missing);
  throw new SelftestFailure(`${row}: ${found}; ${what}`, collecting);
}

function missingText(missing: bigint): string {
  const segments = Array.from({ length: 40 }, (_, segment) => segment).filter(
    (segment) => ((missing >> BigInt(segment)) & 1n) === 1n,
  );
  return `incomplete segments: ${segments.map((segment) => hex(segment * 8, 2)).join(', ')}`;
}
