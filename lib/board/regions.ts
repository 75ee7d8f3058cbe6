import {
  IDENTITY_REGIONS_OFFSET,
  IDENTITY_REGION_BAR_MASK,
  IDENTITY_REGION_BAR_SHIFT,
  IDENTITY_REGION_COUNT,
  IDENTITY_REGION_ENTRIES_OFFSET,
  IDENTITY_REGION_OFFSET,
  IDENTITY_REGION_OFFSET_OFFSET,
  IDENTITY_REGION_PAGE_STRIDE_OFFSET,
  IDENTITY_REGION_PREFETCHABLE_MASK,
  IDENTITY_REGION_PREFETCHABLE_SHIFT,
  IDENTITY_REGION_SIZE_OFFSET,
  IDENTITY_REGION_STRIDE,
  IDENTITY_REGION_TYPE_MASK,
  IDENTITY_REGION_TYPE_SHIFT,
  RegionType,
} from '../spec/index.ts';
import type { BoardFunction } from './addon.ts';

/** BAR that begins with the identity registers. */
export const IDENTITY_BAR = 0;

/** A region of the BARs, from the region table at the start of BAR 0. */
export interface Region {
  /** Type: registers, virtual collect buffers, and so on. */
  readonly type: RegionType;
  /** Number of its BAR. */
  readonly bar: number;
  /** May be mapped write-combining. */
  readonly prefetchable: boolean;
  /** Offset in its BAR, bytes. */
  readonly offset: number;
  /** Length in bytes. */
  readonly size: number;
  /** Number of pages; the pages of functions or buffers follow one another. */
  readonly pages: number;
  /** Distance in bytes from the start of a page to the next. */
  readonly pageStride: number;
}

/** Reads the region table of a board; skips entries without a type. */
export function readRegions(board: BoardFunction): Region[] {
  const count = Math.min(board.read32(IDENTITY_BAR, IDENTITY_REGIONS_OFFSET), IDENTITY_REGION_COUNT);
  const regions = Array.from({ length: count }, (_, index) => readRegion(board, index));
  return regions.filter(({ type }) => type !== RegionType.none);
}

function readRegion(board: BoardFunction, index: number): Region {
  const read32 = (offset: number): number =>
    board.read32(IDENTITY_BAR, offset + index * IDENTITY_REGION_STRIDE);
  const read64 = (offset: number): number => read32(offset) + read32(offset + 4) * 2 ** 32;
  const entry = read32(IDENTITY_REGION_OFFSET);
  return {
    type: ((entry >>> IDENTITY_REGION_TYPE_SHIFT) & IDENTITY_REGION_TYPE_MASK) as RegionType,
    bar: (entry >>> IDENTITY_REGION_BAR_SHIFT) & IDENTITY_REGION_BAR_MASK,
    prefetchable: ((entry >>> IDENTITY_REGION_PREFETCHABLE_SHIFT) & IDENTITY_REGION_PREFETCHABLE_MASK) === 1,
    offset: read64(IDENTITY_REGION_OFFSET_OFFSET),
    size: read64(IDENTITY_REGION_SIZE_OFFSET),
    pages: read32(IDENTITY_REGION_ENTRIES_OFFSET),
    pageStride: read32(IDENTITY_REGION_PAGE_STRIDE_OFFSET),
  };
}
