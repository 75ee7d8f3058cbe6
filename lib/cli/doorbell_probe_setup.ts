import type { DoorbellProbeSetup } from '../board/addon.ts';
import { encodeCommand } from '../driver/command.ts';
import type { HcaDriver } from '../driver/hca_driver.ts';
import type { KickRecordRing } from '../driver/kick_records.ts';
import { COMMAND_HEADER_BYTES, Opcode, UNDERLYING_FUNCTION_CLOCK_OFFSET } from '../spec/index.ts';
import type { LoopedQueuePair } from './looped_queue_pair.ts';

/** The posts of a doorbell probe: signaled RDMA WRITEs of `payloadBytes` of inline data, from the queue pair to itself. */
export function doorbellProbeSetup(
  { device }: HcaDriver,
  { queuePair, completionQueue, memory }: LoopedQueuePair,
  records: KickRecordRing,
  payloadBytes: number,
): DoorbellProbeSetup {
  const { sendQueue, virtualCollectBuffer, number, level } = queuePair.driver;
  const { buffer } = sendQueue.entryArea;
  const request = {
    opcode: Opcode.rdmaWrite,
    signaled: true,
    inlineData: new Uint8Array(payloadBytes).fill(0x5a),
    remote: memory.remote(),
  };
  const origin = { queuePairNumber: number, level, checksumSecret: 0 };
  encodeCommand(new Uint32Array(buffer), new Uint8Array(buffer), 0, origin, 0, request);
  const clock = device.page.place(UNDERLYING_FUNCTION_CLOCK_OFFSET);
  return {
    virtualCollectBufferBar: device.virtualCollectBufferRegion.bar,
    virtualCollectBufferOffset: virtualCollectBuffer.offset,
    entryArea: sendQueue.entryArea,
    entryOffset: 0,
    commandBytes: COMMAND_HEADER_BYTES + payloadBytes,
    references: sendQueue.references,
    sendQueueLog2: sendQueue.entriesLog2,
    firstSequenceNumber: sendQueue.nextSequenceNumber,
    records: records.ring,
    recordsLog2: records.entriesLog2,
    recordsHead: records.head,
    completions: completionQueue.driver.ring,
    completionsLog2: Math.log2(completionQueue.capacity),
    completionsHead: completionQueue.driver.head,
    clockBar: clock.bar,
    clockOffset: clock.offset,
    clockFrequency: device.identity.clockFrequency,
  };
}
