import { loadTestAddon } from './test_addon.ts';

/** State of a physical collect buffer. */
export interface PhysicalCollectBuffer {
  state: number;
  group: number;
  qualityOfServiceLevel: number;
  underlyingFunction: number;
  virtualCollectBuffer: number;
  scoreboard: bigint;
  mask: bigint;
  data: Uint8Array;
}

/** State of a virtual collect buffer. */
export interface VirtualCollectBuffer {
  state: number;
  refusal: number;
  physicalCollectBuffer: number;
}

/** Counters of the collect group table: by group (low, high, function_shared), and of the PCBs that all functions share. */
export interface CollectGroups {
  available: number[];
  inUse: number[];
  borrowed: number;
  sharedTotal: number;
  sharedAvailable: number;
}

/** Parameters of the model, all optional. */
export interface CollectBufferOptions {
  underlyingFunctions?: number;
  virtualCollectBuffers?: number;
  physicalCollectBuffers?: number;
  dedicatedPhysicalCollectBuffers?: number;
  managementPhysicalCollectBuffers?: number;
  scoreboardVariant?: number;
}

/** collect_buffer and kick_records alone, with queue pairs, clock and host memory of the test. */
export interface CollectBufferPort {
  defineQueuePair(underlyingFunction: number, queuePairNumber: number, level: number, secret: number): void;
  write(
    buffer: number,
    offset: number,
    bytes: Uint8Array,
    byteEnables?: bigint,
    underlyingFunction?: number,
  ): void;
  /** False: nothing has happened. */
  writeBurst(
    buffer: number,
    offset: number,
    bytes: Uint8Array,
    byteEnables?: undefined,
    underlyingFunction?: number,
  ): boolean;
  writeManagementPage(
    underlyingFunction: number,
    offset: number,
    bytes: Uint8Array,
    byteEnables?: bigint,
  ): void;
  canAcceptWrite(): boolean;
  step(): boolean;
  nextDeadline(): bigint;
  /** Sets the clock, which advances by `ticksPerLook` at each read; default 0: it stands still. */
  setTime(ticks: bigint, ticksPerLook?: bigint): void;
  setHalfWrittenLimit(ticks: bigint): void;
  takeKicks(): Uint8Array[];
  takeNotices(): Uint8Array[];
  takeManagementUnits(): Uint8Array[];
  takeEvents(): Uint8Array[];
  release(physicalCollectBuffer: number): void;
  takeDedicated(): number | null;
  takeManagement(): number | null;
  lockManagement(underlyingFunction: number): number | null;
  unlockManagement(underlyingFunction: number): void;
  breakManagementLock(physicalCollectBuffer: number): void;
  cancel(buffer: number): void;
  close(buffer: number): void;
  open(buffer: number): void;
  setBar(underlyingFunction: number, base: number, count: number, low: number, high: number): boolean;
  setAllotment(underlyingFunction: number, low: number, high: number, shared: number): boolean;
  resetFunction(underlyingFunction: number): void;
  reset(): void;
  physical(buffer: number): PhysicalCollectBuffer;
  virtual(buffer: number): VirtualCollectBuffer;
  groups(underlyingFunction: number): CollectGroups;
  counters(underlyingFunction: number): Record<string, number>;
  verify(): string | null;
  setKickRecords(
    underlyingFunction: number,
    enable: number,
    log2: number,
    address: bigint,
    head: bigint,
    allFunctions?: boolean,
  ): void;
  sent(unit: Uint8Array, buffer: number, opcode: number, begin: bigint): void;
  readonly memory: ArrayBuffer;
  readonly base: bigint;
}

const addon = loadTestAddon() as {
  CollectBufferPort: new (options: CollectBufferOptions) => CollectBufferPort;
};

/** Creates a collect buffer. */
export function makeCollectBuffer(options: CollectBufferOptions = {}): CollectBufferPort {
  return new addon.CollectBufferPort(options);
}
