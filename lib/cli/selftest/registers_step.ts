import { readNamed, blockNamed } from '../../driver/named_registers.ts';
import type { RegisterPage } from '../../driver/register_page.ts';
import {
  UNDERLYING_FUNCTION_CLOCK_OFFSET,
  UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET,
  type RegisterDescription,
} from '../../spec/index.ts';
import type { Bench } from './bench.ts';
import { SelftestFailure, hex } from './failure.ts';

/** Page addresses with alternating bits, both ways. */
const patterns = [0x5555_5555_5555_5000n, 0xaaaa_aaaa_aaaa_a000n, 0n];

const reading = 'reads of BAR 0: the region table, the decoding of register addresses, byte order';
const writing =
  'writes to BAR 0: byte enables, 8 B writes that arrive in two halves, writes that get lost on their way';

/**
 * Reads every readable register, checks that no undefined bit is set, and writes one register and reads it back. No other process may
 * drive the function meanwhile.
 */
export function walkRegisters({ device }: Bench): string {
  const { identityPage, page, controlPage } = device;
  const blocks: readonly (readonly [string, RegisterPage | undefined])[] = [
    ['identity', identityPage],
    ['underlying_function', page],
    ['control', controlPage],
  ];
  let count = 0;
  for (const [name, registers] of blocks) {
    if (registers === undefined) continue;
    for (const register of blockNamed(name).registers) {
      if (register.access === 'wo' || register.access === 'ro_side_effect') continue;
      checkRegister(name, registers, register);
      count += register.count;
    }
  }
  writeAndRead(page);
  if (device.board.facts().progress !== 'stepped') checkClock(page);
  return `${count} registers read, one written and read back`;
}

function checkRegister(block: string, page: RegisterPage, register: RegisterDescription): void {
  const { fields, width, unit } = register;
  const defined = fields.reduce(
    (mask, each) => mask | (((1n << BigInt(each.width)) - 1n) << BigInt(each.bit)),
    0n,
  );
  const ones = (1n << BigInt(width)) - 1n;
  for (const [index, value] of readNamed(page, register).values.entries()) {
    const name = `${block}.${register.name}${register.count > 1 ? `[${index}]` : ''}`;
    const shown = `${name} reads ${hex(value, width / 4)}`;
    if (fields.length > 0 && (value & ~defined) !== 0n) {
      throw new SelftestFailure(
        `${shown}, with undefined bits set: ${hex(value & ~defined, width / 4)}`,
        reading,
      );
    }
    // Registers that count or measure; bit strings may be all ones.
    if (unit !== undefined && value === ones) throw new SelftestFailure(`${shown}: all ones`, reading);
  }
}

/** The address of a ring that is not enabled. */
function writeAndRead(page: RegisterPage): void {
  for (const pattern of patterns) {
    page.write64(UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET, pattern);
    const found = page.read64(UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET);
    if (found === pattern) continue;
    throw new SelftestFailure(
      `underlying_function.kick_record_address reads ${hex(found, 16)} after ${hex(pattern, 16)} was written`,
      writing,
    );
  }
}

function checkClock(page: RegisterPage): void {
  const before = page.read64(UNDERLYING_FUNCTION_CLOCK_OFFSET);
  const after = page.read64(UNDERLYING_FUNCTION_CLOCK_OFFSET);
  if (after > before) return;
  throw new SelftestFailure(
    `the device clock does not advance: ${before} and then ${after} ticks`,
    'the clock of the device and its reset',
  );
}
