import type { BoardFunction } from '../board/addon.ts';
import { readRegions, type Region } from '../board/regions.ts';
import { enumText } from '../spec/enum_names.ts';
import { regionTypeNames, type RegionType } from '../spec/index.ts';
import { VerbsError } from './errors.ts';
import type { DeviceLoss } from './device_loss.ts';
import { RegisterPage } from './register_page.ts';

/** Locations of the registers and virtual collect buffers of a board, checked. */
export class Regions {
  readonly all: readonly Region[];
  private readonly board: BoardFunction;
  private readonly loss: DeviceLoss;

  /** @throws VerbsError ENOTSUP: the region table does not describe a board that this driver can drive */
  constructor(board: BoardFunction, loss: DeviceLoss) {
    this.board = board;
    this.loss = loss;
    this.all = readRegions(board);
    for (const region of this.all) {
      const { pages, pageStride, offset, size } = region;
      if (Number.isSafeInteger(offset + size) && pages * pageStride <= size) continue;
      throw notDrivable(
        `its region ${nameOf(region.type)} has ${pages} pages of ${pageStride} B in ${size} B`,
        'a region that holds its pages',
      );
    }
  }

  /** @throws VerbsError ENOTSUP: the board has no region of this type */
  find(type: RegionType): Region {
    const found = this.all.find((region) => region.type === type);
    if (found === undefined)
      throw notDrivable(`it has no region ${nameOf(type)}`, `a region ${nameOf(type)}`);
    return found;
  }

  /** A page of registers. @throws VerbsError ENOTSUP: the board has no region of this type */
  page(type: RegionType, page: number): RegisterPage {
    const { bar, offset, pageStride } = this.find(type);
    return new RegisterPage(this.board, this.loss, bar, offset + page * pageStride);
  }
}

function nameOf(type: RegionType): string {
  return enumText('RegionType', regionTypeNames, type);
}

/** The error for a board with the right magic number that lacks a feature that the driver needs. */
export function notDrivable(why: string, expected: string): VerbsError {
  return new VerbsError(`this driver does not support the board: ${why}; expected: ${expected}`, {
    code: 'ENOTSUP',
    verb: 'openDevice',
    expected,
  });
}
