// `fpga-verbs/board`: emulated boards for tests of drivers, and device strings.
export type {
  BoardCounters,
  BoardFacts,
  BoardFunction,
  BoardOptions,
  CommandMapping,
  CommandWriter,
  DmaFault,
  DmaMemory,
  FaultRule,
  Interrupt,
  LinkImpairment,
  LinkImpairmentCounters,
  PortPacket,
  PostedWrite,
  Progress,
  Transaction,
} from './addon.ts';
export {
  DeviceStringError,
  chosenDeviceString,
  formatDeviceString,
  parseDeviceString,
} from './device_string.ts';
export type { DeviceName } from './device_string.ts';
export { EmulatedBoard, type InjectedFault, type InjectedImpairment } from './emulated_board.ts';
export { EmulatedFabric } from './emulated_fabric.ts';
export { BackendMissingError, openBoard, openFreeFunction } from './open_board.ts';
export { formatRecording, parseRecording, type Recording } from './recording.ts';
export type { Region } from './regions.ts';
export { describeTransaction } from './transaction_text.ts';
