// The part of the native interface that maps PCI functions (see ../addon.ts).

/** A part of a PCI function's BAR, and the sysfs file from which it is mapped. */
export interface SysfsRange {
  path: string;
  bar: number;
  /** Offset in the BAR and in the file; whole pages. */
  offset: number;
  bytes: number;
  /** The file's mapping is write-combining. Default false. */
  writeCombining?: boolean;
}

/** A PCI function through sysfs. */
export interface SysfsFunctionSetup {
  /** The function's file `config`. */
  configurationPath: string;
  /** The function's file `reset`. Without it the function is not reset. */
  resetPath?: string;
  ranges: readonly SysfsRange[];
  underlyingFunction: number;
}

/** A PCI function through VFIO. */
export interface VfioFunctionSetup {
  /** /dev/iommu, and /dev/vfio/devices/vfioN: used instead of container and group if they can be opened. */
  iommuPath?: string;
  devicePath?: string;
  /** /dev/vfio/vfio */
  containerPath: string;
  /** /dev/vfio/N */
  groupPath: string;
  /** DDDD:BB:DD.F */
  address: string;
  /** Width of DMA addresses in bits. Default 64. */
  addressBits?: number;
  underlyingFunction: number;
}
