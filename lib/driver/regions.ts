import type { BoardFunction } from '../board/addon.ts';
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
import { VerbsError } from './errors.ts';
import { RegisterPage } from './register_page.ts';

/** A region of the BARs, from the region table at the start of BAR 0. */
export interface Region {
  readonly type: RegionType;
  readonly bar: number;
  /** May be mapped write-combining. */
  readonly prefetchable: boolean;
  /** Bytes from the begin of its BAR. */
  readonly offset: number;
  /** Bytes. */
  readonly size: number;
  /** Pages, `pageStride` bytes apart. */
  readonly pages: number;
  readonly pageStride: number;
}

/** Where the registers and virtual collect buffers of a board lie. */
export class Regions {
  readonly all: readonly Region[];

  /** Reads the region table. @throws VerbsError: it does not describe a board that this driver can drive */
  constructor(identity: RegisterPage) {
    const count = identity.read32(IDENTITY_REGIONS_OFFSET);
    if (count > IDENTITY_REGION_COUNT) {
      throw notDrivable(`its region table has ${count} entries`, `at most ${IDENTITY_REGION_COUNT}`);
    }
    this.all = Array.from({ length: count }, (_, index) => readRegion(identity, index)).filter(
      ({ type }) => type !== RegionType.none,
    );
  }

  /** The region of a type. @throws VerbsError: the board has none */
  find(type: RegionType, name: string): Region {
    const found = this.all.find((region) => region.type === type);
    if (found === undefined) throw notDrivable(`it has no region ${name}`, `a ${name} region`);
    return found;
  }

  /** A page of registers of a region. */
  page(board: BoardFunction, region: Region, page: number): RegisterPage {
    return new RegisterPage(board, region.bar, region.offset + page * region.pageStride);
  }
}

function readRegion(identity: RegisterPage, index: number): Region {
  const at = index * IDENTITY_REGION_STRIDE;
  const entry = identity.read32(IDENTITY_REGION_OFFSET + at);
  const region: Region = {
    type: ((entry >>> IDENTITY_REGION_TYPE_SHIFT) & IDENTITY_REGION_TYPE_MASK) as RegionType,
    bar: (entry >>> IDENTITY_REGION_BAR_SHIFT) & IDENTITY_REGION_BAR_MASK,
    prefetchable: ((entry >>> IDENTITY_REGION_PREFETCHABLE_SHIFT) & IDENTITY_REGION_PREFETCHABLE_MASK) === 1,
    offset: Number(identity.read64(IDENTITY_REGION_OFFSET_OFFSET + at)),
    size: Number(identity.read64(IDENTITY_REGION_SIZE_OFFSET + at)),
    pages: identity.read32(IDENTITY_REGION_ENTRIES_OFFSET + at),
    pageStride: identity.read32(IDENTITY_REGION_PAGE_STRIDE_OFFSET + at),
  };
  if (region.type === RegionType.none) return region;
  if (!Number.isSafeInteger(region.offset + region.size) || region.pages * region.pageStride > region.size) {
    throw notDrivable(
      `region ${index} of its table has ${region.pages} pages of ${region.pageStride} B in ${region.size} B`,
      'a region that holds its pages',
    );
  }
  return region;
}

/** A board that has our magic number, but not what the driver needs. */
export function notDrivable(why: string, expected: string): VerbsError {
  return new VerbsError(`this board cannot be driven: ${why}; expected: ${expected}`, {
    code: 'ENOTSUP',
    verb: 'openDevice',
    expected,
  });
}
