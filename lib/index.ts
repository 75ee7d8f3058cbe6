// `fpga-verbs`: verbs on an HCA.
export type { AddressVector } from './driver/address_vector.ts';
export type { QueuePairAttributes, QueuePairQuery } from './driver/queue_pair_attributes.ts';
export { Completion } from './driver/completion.ts';
export { VerbsError, type VerbsErrorDetails } from './driver/errors.ts';
export type { DeviceEvent } from './driver/event_queue.ts';
export type { GatherEntry, RemotePlace, SendRequest } from './driver/command.ts';
export type { FunctionLimits } from './driver/hca_driver.ts';
export type { Identity } from './driver/identity.ts';
export { KickRecord } from './driver/kick_records.ts';
export type { Kick } from './driver/kicks.ts';
export {
  CompletionOpcode,
  CompletionStatus,
  EventType,
  LinkLayer,
  Opcode,
  PathMtu,
  PortPhysicalState,
  PortState,
  QualityOfServiceLevel,
  QueuePairState,
  Resource,
  completionOpcodeNames,
  completionStatusNames,
  linkLayerNames,
  opcodeNames,
  portPhysicalStateNames,
  portStateNames,
  queuePairStateNames,
  resourceNames,
} from './spec/index.ts';
export type { PortAttributes } from './driver/port.ts';
export type { CreditStatus, LevelCredits } from './driver/credits.ts';
export type { ResourceOwner, ResourceQuery, ResourceRequest, ResourceShare } from './driver/resources.ts';
export type { ReceiveRequest } from './driver/receive_area.ts';
export { Access } from './verbs/access.ts';
export { AddressHandle } from './verbs/address_handle.ts';
export { CompletionChannel } from './verbs/completion_channel.ts';
export { PreparedReceive, PreparedSend } from './verbs/prepared.ts';
export { CompletionError } from './verbs/completion_error.ts';
export {
  CompletionQueue,
  type CompletionModeration,
  type CompletionWaitOptions,
} from './verbs/completion_queue.ts';
export {
  Context,
  type CompletionQueueOptions,
  type ContextToken,
  type DeviceInfo,
  type KicksOptions,
  type ObserveKicksOptions,
} from './verbs/context.ts';
export { Device, getDeviceList, openDevice } from './verbs/device.ts';
export { MemoryRegion, type MemorySlice } from './verbs/memory_region.ts';
export { MemoryWindow, nextRemoteKey } from './verbs/memory_window.ts';
export type { PacedPollOptions } from './verbs/paced_poll.ts';
export type { WaitOptions } from './verbs/polling_wait.ts';
export { ProtectionDomain } from './verbs/protection_domain.ts';
export {
  QueuePair,
  type QueuePairCapabilities,
  type QueuePairOptions,
  type QueuePairType,
} from './verbs/queue_pair.ts';
export { RemoteMemory, type RemoteMemoryName } from './verbs/remote_memory.ts';
export {
  SharedReceiveQueue,
  type SharedReceiveQueueAttributes,
  type SharedReceiveQueueOptions,
} from './verbs/shared_receive_queue.ts';
