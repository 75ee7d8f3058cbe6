import {
  DOORBELL_SLOTS_OFFSET,
  DOORBELL_SLOT_WRITE_BYTES,
  RegionType,
  blockDescriptions,
  doorbellSlotNames,
  type RegisterDescription,
} from '../spec/index.ts';
import type { Transaction } from './addon.ts';
import type { Region } from './regions.ts';

const blockOf: Readonly<Record<number, string>> = {
  [RegionType.identity]: 'identity',
  [RegionType.control]: 'control',
  [RegionType.underlyingFunction]: 'underlying_function',
};

/**
 * Formats a transaction: `12 write function 1 vcb 40 + 0x0, 64 B`, `9 read function 0 identity.magic: 43485646`.
 * @param regions the region table of the board
 */
export function describeTransaction(transaction: Transaction, regions: readonly Region[]): string {
  const { kind, underlyingFunction, time, data } = transaction;
  const what = data.length <= 8 ? `: ${valueOf(transaction)}` : `, ${data.length} B`;
  return `${time} ${kind} function ${underlyingFunction} ${placeOf(transaction, regions)}${what}`;
}

function placeOf({ bar, offset }: Transaction, regions: readonly Region[]): string {
  const region = regions.find((each) => {
    const inside = offset - each.offset;
    return each.bar === bar && inside >= 0 && inside < each.size;
  });
  if (region === undefined) return `BAR ${bar} + 0x${offset.toString(16)}`;
  const page = Math.floor((offset - region.offset) / region.pageStride);
  const inPage = (offset - region.offset) % region.pageStride;
  if (region.type === RegionType.virtualCollectBuffer) return `vcb ${page}${inBuffer(inPage)}`;
  const block = blockOf[region.type] ?? `region ${region.type}`;
  const where = region.type === RegionType.underlyingFunction ? `${block}[${page}]` : block;
  return `${where}.${registerAt(block, inPage)}`;
}

function inBuffer(offset: number): string {
  const slot = Math.floor((offset - DOORBELL_SLOTS_OFFSET) / DOORBELL_SLOT_WRITE_BYTES);
  const name = doorbellSlotNames[slot];
  return name === undefined ? ` + 0x${offset.toString(16)}` : ` doorbell ${name}`;
}

function registerAt(block: string, offset: number): string {
  const registers = blockDescriptions.find(({ name }) => name === block)?.registers ?? [];
  for (const register of registers) {
    const index = indexIn(register, offset);
    if (index === undefined) continue;
    const element = register.count > 1 ? `[${index}]` : '';
    const half = (offset - register.offset) % register.stride >= 4 ? ' high half' : '';
    return `${register.name}${element}${register.width === 64 ? half : ''}`;
  }
  return `0x${offset.toString(16)}`;
}

/** Index of the register element at an offset. */
function indexIn(
  { offset: first, stride, count, width }: RegisterDescription,
  offset: number,
): number | undefined {
  const index = count > 1 ? Math.floor((offset - first) / stride) : 0;
  const inside = offset - first - index * (count > 1 ? stride : 0);
  return index >= 0 && index < count && inside >= 0 && inside < width / 8 ? index : undefined;
}

/** Formats the data as a number, most significant byte first, with dots for bytes that are not written. */
function valueOf({ data, byteEnables }: Transaction): string {
  return Array.from(data, (byte, index) =>
    ((byteEnables >> BigInt(index)) & 1n) === 1n ? byte.toString(16).padStart(2, '0') : '..',
  )
    .reverse()
    .join('');
}
