// `fpga-verbs`: verbs on an HCA.
export { VerbsError, type VerbsErrorDetails } from './driver/errors.ts';
export type { DeviceEvent } from './driver/event_queue.ts';
export type { FunctionLimits } from './driver/hca_driver.ts';
export type { Identity } from './driver/identity.ts';
export { KickRecord } from './driver/kick_records.ts';
export type { Kick } from './driver/kicks.ts';
export { Context, type DeviceInfo } from './verbs/context.ts';
export { Device, getDeviceList, openDevice } from './verbs/device.ts';
export type { WaitOptions } from './verbs/patience.ts';
