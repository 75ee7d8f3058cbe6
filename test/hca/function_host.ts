import {
  EventType,
  ManagementOpcode,
  Opcode,
  PathMtu,
  QualityOfServiceLevel,
  QueuePairState,
  RegionType,
  ServiceType,
  UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET,
  UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_QUEUING_STRUCTURE_SIZE_OFFSET,
  encode,
} from '../../lib/spec/index.ts';
import { Management, pageList, type Device } from '../helpers/device.ts';

const recordsLog2 = 8;
const eventsLog2 = 7;
const queuingLog2 = 8;
const slotBytes = 512; // of a send work queue entry: a multiple of 64 that never crosses a page

// Bits of the attribute mask, as in ibv_qp_attr_mask.
const state = 1 << 0;
const partitionKeyIndex = 1 << 4;
const port = 1 << 5;
const accessFlags = 1 << 3;
const addressVector = 1 << 7;
const pathMtu = 1 << 8;
const receivePsn = 1 << 12;
const destinationQueuePair = 1 << 20;
const sendPsn = 1 << 16;

export interface KickRecord {
  type: number;
  kick_number: number;
  queue_pair_number: number;
  send_queue_sequence_number: number;
  status: number;
  origin: number;
}

/** One function's host side: management queues, event queue 0, kick records and queuing structures. */
export class FunctionHost {
  readonly device: Device;
  readonly underlyingFunction: number;
  readonly management: Management;
  private readonly records: number;
  private readonly recordHead: number;
  private recordsRead = 0;
  private readonly events: number;
  private readonly eventHead: number;
  private eventsRead = 0;

  constructor(device: Device, underlyingFunction: number) {
    this.device = device;
    this.underlyingFunction = underlyingFunction;
    this.management = new Management(device, underlyingFunction);
    this.events = device.allocate(32 << eventsLog2);
    this.eventHead = device.allocate(8);
    this.management.succeed(ManagementOpcode.createEventQueue, {}, [
      encode('create_event_queue_input', {
        event_queue: 0,
        entries_log2: eventsLog2,
        pages: 1,
        head_address: device.address(this.eventHead),
      }),
      pageList(device, this.events, 32 << eventsLog2),
    ]);
    const page = RegionType.underlyingFunction;
    for (const level of [QualityOfServiceLevel.low, QualityOfServiceLevel.high])
      device.write64(
        page,
        underlyingFunction,
        UNDERLYING_FUNCTION_QUEUING_STRUCTURE_ADDRESS_OFFSET + level * 8,
        device.address(device.allocate(8 << queuingLog2)),
      );
    device.write32(page, underlyingFunction, UNDERLYING_FUNCTION_QUEUING_STRUCTURE_SIZE_OFFSET, queuingLog2);
    this.records = device.allocate(64 << recordsLog2);
    this.recordHead = device.allocate(8);
    device.write64(
      page,
      underlyingFunction,
      UNDERLYING_FUNCTION_KICK_RECORD_ADDRESS_OFFSET,
      device.address(this.records),
    );
    device.write64(
      page,
      underlyingFunction,
      UNDERLYING_FUNCTION_KICK_RECORD_HEAD_ADDRESS_OFFSET,
      device.address(this.recordHead),
    );
    device.write32(
      page,
      underlyingFunction,
      UNDERLYING_FUNCTION_KICK_RECORD_CONTROL_OFFSET,
      1 | (recordsLog2 << 8),
    );
  }

  /** The kick records since the last call. */
  takeKickRecords(): KickRecord[] {
    const taken: KickRecord[] = [];
    const phase = (): boolean => ((this.recordsRead >> recordsLog2) & 1) === 0;
    for (;;) {
      const offset = this.records + (this.recordsRead & ((1 << recordsLog2) - 1)) * 64;
      const record = this.device.get(offset, 'kick_record', 64);
      if ((record['phase'] === 1) !== phase()) break;
      taken.push(record as unknown as KickRecord);
      this.device.view.setUint32(this.recordHead, ++this.recordsRead, true);
    }
    return taken;
  }

  /** The events since the last call, without the answers to management commands. */
  takeEvents(): ReturnType<Device['get']>[] {
    const taken: ReturnType<Device['get']>[] = [];
    for (;;) {
      const offset = this.events + (this.eventsRead & ((1 << eventsLog2) - 1)) * 32;
      const event = this.device.get(offset, 'event_queue_entry', 32);
      if (event['phase'] !== (((this.eventsRead >> eventsLog2) & 1) ^ 1)) break;
      if (event['type'] !== EventType.managementCompletion) taken.push(event);
      this.device.view.setUint32(this.eventHead, ++this.eventsRead, true);
    }
    return taken;
  }

  createQueuePair(level: number = QualityOfServiceLevel.low, completionQueue = 0): SendQueue {
    return new SendQueue(this, level, completionQueue);
  }
}

/** A queue pair that is ready to send, and its send queue. */
export class SendQueue {
  readonly host: FunctionHost;
  readonly level: number;
  readonly number: number;
  readonly protectionDomain: number;
  private readonly references: number;
  private readonly entries: number;
  private readonly log2 = 4;
  private next = 0;

  constructor(host: FunctionHost, level: number, completionQueue: number) {
    const { device, management } = host;
    this.host = host;
    this.level = level;
    this.references = device.allocate(8 << this.log2);
    this.entries = device.allocate(slotBytes << this.log2);
    this.protectionDomain = Number(management.succeed(ManagementOpcode.createProtectionDomain)['output']);
    const created = management.succeed(ManagementOpcode.createQueuePair, {}, [
      encode('create_queue_pair_input', {
        service_type: ServiceType.unreliableConnection,
        quality_of_service_level: level,
        send_queue_log2: this.log2,
        protection_domain: this.protectionDomain,
        send_completion_queue: completionQueue,
        send_queue_pages: 1,
        send_entry_pages: (slotBytes << this.log2) / 4096,
      }),
      pageList(device, this.references, 8 << this.log2),
      pageList(device, this.entries, slotBytes << this.log2),
    ]);
    this.number = Number(created['output']);
    this.modify({
      attribute_mask: state | accessFlags | partitionKeyIndex | port,
      state: QueuePairState.init,
      port: 1,
    });
    this.modify({
      attribute_mask: state | addressVector | pathMtu | receivePsn | destinationQueuePair,
      state: QueuePairState.readyToReceive,
      path_mtu: PathMtu.mtu1024,
      destination_queue_pair: 0x123456,
      // No board has this address, so packets to it are lost.
      address_vector: encode('address_vector', { port: 1, is_global: 1 }),
    });
    this.modify({ attribute_mask: state | sendPsn, state: QueuePairState.readyToSend });
  }

  modify(attributes: Parameters<typeof encode>[1]): void {
    this.host.management.succeed(ManagementOpcode.modifyQueuePair, { input_modifier: this.number }, [
      encode('queue_pair_attributes', attributes),
    ]);
  }

  destroy(): void {
    this.host.management.succeed(ManagementOpcode.destroyQueuePair, { input_modifier: this.number });
  }

  /** Puts a command with `payload` bytes into the send queue and returns it, for a write to a VCB. */
  prepare(payload: number, fields: Parameters<typeof encode>[1] = {}): Uint8Array {
    const { device } = this.host;
    const slot = this.next & ((1 << this.log2) - 1);
    const offset = slot * slotBytes;
    const command = new Uint8Array(64 + payload);
    command.fill(this.next & 0xff, 64);
    command.set(
      encode('command_header', {
        opcode: Opcode.send,
        queue_pair_number: this.number,
        send_queue_sequence_number: this.next & 0xffff,
        length: payload,
        quality_of_service_level: this.level,
        version: 1,
        inline_data: 1,
        ...fields,
      }),
    );
    device.bytes.set(command, this.entries + offset);
    device.put(this.references + slot * 8, 'work_queue_reference', {
      offset,
      sequence_number: this.next & 0xffff,
      length: command.length,
    });
    ++this.next;
    return command;
  }
}
