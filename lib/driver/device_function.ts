import type { BoardFunction, DirectCalls, DmaMemory } from '../board/addon.ts';
import { readUnderlyingFunction } from '../board/own_function.ts';
import { IDENTITY_BAR, type Region } from '../board/regions.ts';
import {
  IDENTITY_MAGIC_OFFSET,
  IDENTITY_MAGIC_RESET,
  IDENTITY_VERSION_MAJOR_MASK,
  IDENTITY_VERSION_MAJOR_SHIFT,
  IDENTITY_VERSION_OFFSET,
  IDENTITY_VERSION_RESET,
  RegionType,
} from '../spec/index.ts';
import { VerbsError, allocationError, deviceGone } from './errors.ts';
import { readIdentity, type Identity } from './identity.ts';
import { DeviceLoss } from './device_loss.ts';
import { RegisterPage } from './register_page.ts';
import { Regions, notDrivable } from './regions.ts';

const allOnes = 0xffff_ffff;

/** An open underlying function of a board that this driver supports: its registers and the memory that it may access. */
export class DeviceFunction {
  readonly board: BoardFunction;
  readonly underlyingFunction: number;
  readonly loss = new DeviceLoss();
  readonly identity: Identity;
  readonly regions: Regions;
  readonly identityPage: RegisterPage;
  /** The function's own register page. */
  readonly page: RegisterPage;
  /** The control registers, of function 0 alone. */
  readonly controlPage: RegisterPage | undefined;
  readonly virtualCollectBufferRegion: Region;
  /** The user of the function's ring of kick records: a reader of this process, or observers in other processes. */
  kickRecordsOf: 'reader' | 'observers' | undefined;
  private readonly memory = new Set<DmaMemory>();
  private isClosed = false;
  private readonly calls: DirectCalls;
  private readonly number: number;

  /**
   * Takes ownership of an open function of a board, on any backend; close() closes it.
   * @throws VerbsError ENODEV: no device answers; ENOTSUP: not a board of this project, another major version, or it lacks a feature that
   * the driver needs. The function is closed in these cases.
   */
  constructor(board: BoardFunction) {
    this.board = board;
    this.calls = board.calls;
    this.number = board.number;
    try {
      checkMagic(board);
      this.identityPage = new RegisterPage(board, this.loss, IDENTITY_BAR, 0);
      checkVersion(this.identityPage);
      this.identity = readIdentity(this.identityPage);
      this.regions = new Regions(board, this.loss);
      this.underlyingFunction = readUnderlyingFunction(board, this.regions.all);
      this.page = this.regions.page(RegionType.underlyingFunction, this.underlyingFunction);
      this.virtualCollectBufferRegion = this.regions.find(RegionType.virtualCollectBuffer);
      this.controlPage = this.underlyingFunction === 0 ? this.regions.page(RegionType.control, 0) : undefined;
    } catch (error) {
      board.close();
      throw error;
    }
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /**
   * Allocates zeroed memory that the device can access, in whole pages; {@link free} or closing the function frees it.
   * @throws VerbsError ENOMEM: none is left; RangeError: bytes
   */
  allocate(bytes: number): DmaMemory {
    try {
      const memory = this.board.allocateMemory(bytes);
      this.memory.add(memory);
      return memory;
    } catch (error) {
      throw allocationError('allocate', error);
    }
  }

  /** Runs the device if polling drives it; false: it is idle or runs on its own. */
  advance(): boolean {
    const { words, advance } = this.calls;
    words[0] = this.number;
    advance();
    return words[0] !== 0;
  }

  /** On a stepped board, whose time stands still: lets time pass until something happens. */
  letTimePass(): void {
    this.board.letTimePass();
  }

  free(memory: DmaMemory): void {
    this.memory.delete(memory);
    memory.free();
  }

  /** Frees the memory and closes the function. A second call has no effect. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const memory of this.memory) memory.free();
    this.memory.clear();
    this.board.close();
  }
}

function checkMagic(board: BoardFunction): void {
  const magic = board.read32(IDENTITY_BAR, IDENTITY_MAGIC_OFFSET);
  if (magic === allOnes) throw deviceGone('openDevice');
  if (magic !== IDENTITY_MAGIC_RESET) {
    const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`;
    throw new VerbsError(
      `not an fpga-verbs HCA: BAR ${IDENTITY_BAR} begins with ${hex(magic)}, not ${hex(IDENTITY_MAGIC_RESET)}`,
      { code: 'ENOTSUP', verb: 'openDevice', attribute: 'magic', expected: hex(IDENTITY_MAGIC_RESET) },
    );
  }
}

/** Minor versions only add features: a driver works with any of them. */
function checkVersion(page: RegisterPage): void {
  const majorOf = (version: number): number =>
    (version >>> IDENTITY_VERSION_MAJOR_SHIFT) & IDENTITY_VERSION_MAJOR_MASK;
  const major = majorOf(page.read32(IDENTITY_VERSION_OFFSET));
  const ours = majorOf(IDENTITY_VERSION_RESET);
  if (major !== ours) throw notDrivable(`its programming interface has major version ${major}`, `${ours}`);
}
