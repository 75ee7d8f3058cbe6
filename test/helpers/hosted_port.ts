/** Faults of a host memory: what one function cannot reach, by DMA address. */
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
  /** DMA accesses that the function has made. */
  accessesOf(underlyingFunction: number): number;
}
