// `fpga-verbs/board`: emulated boards for tests of drivers, and device strings.
export type {
  BoardCounters,
  BoardFacts,
  BoardFunction,
  BoardOptions,
  CommandMapping,
  CommandWriter,
  DmaMemory,
  Interrupt,
  PortPacket,
  PostedWrite,
  Progress,
  Transaction,
} from './addon.ts';
export type { DmaFault, FaultRule, LinkImpairment, LinkImpairmentCounters } from './faults.ts';
export type { QueuePairFacts, RegionFacts, Watch, WatchKind, WatchedEvent } from './observation.ts';
export type { ServedBoard, ServedBoardOptions, ServedNotice, ServedWork } from './serving.ts';
export { BackendMissingError } from './backend_missing.ts';
export {
  DeviceStringError,
  chosenDeviceString,
  formatDeviceString,
  parseDeviceString,
} from './device_string.ts';
export type { DeviceName } from './device_string.ts';
export { EmulatedBoard, type InjectedFault, type InjectedImpairment } from './emulated_board.ts';
export { EmulatedFabric } from './emulated_fabric.ts';
export { openBeside, openBoard, openFreeFunction } from './open_board.ts';
export { apply, giveBack, shellLine, type Action } from './pci/action.ts';
export { obstaclesOf, type Obstacle } from './pci/obstacle.ts';
export { PciError } from './pci/pci_error.ts';
export {
  deviceStringOf,
  listPciFunctions,
  readPciFunction,
  type PciFunction,
  type PciHost,
} from './pci/pci_function.ts';
export { formatRecording, parseRecording, type Recording } from './recording.ts';
export { loadRtlAddon, type RtlAddon, type RtlCounters } from './rtl_addon.ts';
export type { Region } from './regions.ts';
export { findServedBoards, newServedPath, servedPath, type FoundBoard } from './served_boards.ts';
export { describeTransaction } from './transaction_text.ts';
