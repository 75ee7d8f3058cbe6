// Fields of formats for which lib/spec has no functions, read and written by their descriptions.
import { decode, encode, formatDescriptions } from '../../lib/spec/index.ts';

type Reader = (view: DataView, base: number) => number;
type Writer = (view: DataView, base: number, value: number) => void;

function bytesOf(format: string, view: DataView, base: number): Uint8Array {
  const found = formatDescriptions.find(({ name }) => name === format);
  if (found === undefined) throw new Error(`no format ${format}`);
  return new Uint8Array(view.buffer, view.byteOffset + base, found.bytes);
}

/** Reads a field of a structure that begins at `base`; of a wider field its low `bits`. */
function reader(format: string, field: string, bits = 53): Reader {
  return (view, base) => {
    const value = decode(format, bytesOf(format, view, base))[field];
    return Number(BigInt.asUintN(bits, BigInt(value as number | bigint)));
  };
}

/** Writes a field of a structure that begins at `base`; the others keep their values. */
function writer(format: string, field: string): Writer {
  return (view, base, value) => {
    const bytes = bytesOf(format, view, base);
    bytes.set(encode(format, { ...decode(format, bytes), [field]: value }));
  };
}

export const getEventUnitDetailLow = reader('event_unit', 'detail', 32);
export const getEventUnitObject = reader('event_unit', 'object');
export const getEventUnitOffset = reader('event_unit', 'offset');
export const getEventUnitReason = reader('event_unit', 'reason');
export const getEventUnitType = reader('event_unit', 'type');
export const getEventUnitUnderlyingFunction = reader('event_unit', 'underlying_function');
export const getKickUnitKickNumber = reader('kick_unit', 'kick_number');
export const getKickUnitLength = reader('kick_unit', 'length');
export const getKickUnitOrigin = reader('kick_unit', 'origin');
export const getKickUnitPhysicalCollectBuffer = reader('kick_unit', 'physical_collect_buffer');
export const getKickUnitQueuePairNumber = reader('kick_unit', 'queue_pair_number');
export const getKickUnitSendQueueSequenceNumber = reader('kick_unit', 'send_queue_sequence_number');
export const getKickUnitStatus = reader('kick_unit', 'status');
export const getKickUnitTransmitVirtualLane = reader('kick_unit', 'transmit_virtual_lane');
export const getKickUnitUnderlyingFunction = reader('kick_unit', 'underlying_function');
export const getManagementUnitPhysicalCollectBuffer = reader('management_unit', 'physical_collect_buffer');
export const getManagementUnitSendQueueSequenceNumber = reader(
  'management_unit',
  'send_queue_sequence_number',
);
export const getManagementUnitUnderlyingFunction = reader('management_unit', 'underlying_function');
export const getPostNoticeQualityOfServiceLevel = reader('post_notice', 'quality_of_service_level');
export const getPostNoticeQueuePairNumber = reader('post_notice', 'queue_pair_number');
export const getPostNoticeSendQueueSequenceNumber = reader('post_notice', 'send_queue_sequence_number');
export const getPostNoticeSlot = reader('post_notice', 'slot');
export const getPostNoticeUnderlyingFunction = reader('post_notice', 'underlying_function');
export const getQueuePairRequesterFetchNext = reader('queue_pair_requester', 'fetch_next');
export const getQueuePairRequesterNext = reader('queue_pair_requester', 'next');
export const getQueuePairRequesterPosted = reader('queue_pair_requester', 'posted');
export const getQueuePairRequesterScheduled = reader('queue_pair_requester', 'scheduled');
export const getQueuePairRequesterStopped = reader('queue_pair_requester', 'stopped');
export const setManagementCommandOpcode = writer('management_command', 'opcode');
export const setQueuingStructureEntryQueuePairNumber = writer('queuing_structure_entry', 'queue_pair_number');
