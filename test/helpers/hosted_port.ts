/** Faults of a host memory: DMA addresses that one function cannot access. */
export interface FaultRange {
  underlyingFunction: number;
  begin: bigint;
  end: bigint;
}

/** The host memory and clock of a port: native/test/hosted_port.h. */
export interface HostMethods {
  readonly memory: ArrayBuffer;
  /** DMA address of the first byte of `memory`. */
  readonly base: bigint;
  setTime(ticks: bigint): void;
  interrupts(underlyingFunction: number, vector: number): number;
  /** Makes access number `access` from now on fault; 0: the next one. */
  faultAccess(access: number): void;
  /** Accesses that fault, for good. */
  setFaults(faults: readonly FaultRange[]): void;
  /** Number of DMA accesses of the function. */
  accessesOf(underlyingFunction: number): number;
}
