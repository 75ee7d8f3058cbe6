import {
  AccessFlag,
  LinkLayer,
  PacketOpcode,
  PathMtu,
  QueuePairState,
  ServiceType,
  decode,
  encode,
  packetOpcodeNames,
  serviceTypeNames,
  UNDERLYING_FUNCTION_RECEIVE_DOORBELL_TAIL_WORD,
} from '../../lib/spec/index.ts';
import { buildPacket, parsePacket, type PacketFields } from '../helpers/packet_port.ts';
import { examplePath, noFields } from '../helpers/packets.ts';
import { makeResponder, type ResponderOptions, type ResponderPort } from './responder_port.ts';
import { specificationNames } from '../helpers/specification_names.ts';

const specifiedPacketOpcodeNames = specificationNames(packetOpcodeNames);
const specifiedServiceTypeNames = specificationNames(serviceTypeNames);

const page = 4096;
const slotBytes = 320; // of a receive entry with 16 scatter entries

type Decoded = ReturnType<typeof decode>;

/** Rights of a memory region or queue pair. */
export const rights = {
  localWrite: 1 << AccessFlag.localWrite,
  remoteWrite: 1 << AccessFlag.remoteWrite,
  remoteRead: 1 << AccessFlag.remoteRead,
  remoteAtomic: 1 << AccessFlag.remoteAtomic,
  all: 0xf,
};

/** Memory that a key names. */
export interface Region {
  key: number;
  /** Virtual address of its first byte. */
  address: bigint;
  bytes: Uint8Array;
}

export interface RegionSettings {
  access?: number;
  protectionDomain?: number;
  underlyingFunction?: number;
  /** Pages, counted from 0, that are not mapped. */
  unmapped?: readonly number[];
}

/** A piece of a scatter list. */
export interface Piece {
  region: Region;
  offset: number;
  length: number;
}

/** A packet from the responder. */
export interface Answer {
  queuePair: number;
  /** The opcode, without the service. */
  opcode: string;
  psn: number;
  msn: number;
  syndrome: number;
  originalData: bigint;
  payload: Uint8Array;
}

export interface QueuePairSettings {
  state?: number;
  pathMtu?: number;
  access?: number;
  psn?: number;
  maxDestinationReadAtomic?: number;
  receiverNotReadyTimer?: number;
  /** Without a completion queue. */
  silent?: boolean;
  /** Default reliable connection. */
  service?: ServiceType;
}

const prefix = 'reliable_connection_';
const opcodeByName = new Map(
  Object.values(PacketOpcode).map((opcode) => [specifiedPacketOpcodeNames[opcode]!, opcode as number]),
);

/** A host with a responder: memory, keys, one completion queue, and the answers. */
export class HostResponder {
  readonly port: ResponderPort;
  readonly underlyingFunction = 1;
  readonly protectionDomain = 7;
  readonly answers: Answer[] = [];
  readonly memory: Uint8Array;
  private readonly completionQueueEntries: number;
  private readonly completionQueuePages: number;
  private readonly completionQueueHead: number;
  readonly completionQueue: number;
  private completed = 0;
  private used = page;

  constructor(options: ResponderOptions = {}, completionQueueLog2 = 10) {
    this.port = makeResponder({ acknowledgeCoalescing: false, ...options });
    this.memory = new Uint8Array(this.port.memory);
    this.completionQueueEntries = 1 << completionQueueLog2;
    this.completionQueueHead = this.allocate(1);
    const pages = Math.ceil((this.completionQueueEntries * 64) / page);
    this.completionQueuePages = this.allocate(pages);
    this.completionQueue = this.port.createCompletionQueue(
      this.underlyingFunction,
      encode('create_completion_queue_input', {
        entries_log2: completionQueueLog2,
        pages,
        head_address: this.port.base + BigInt(this.completionQueueHead),
      }),
      this.pagesAt(this.completionQueuePages, pages),
    );
  }

  /** Memory of `bytes` bytes that begins in the middle of a page, with any virtual address. */
  region(bytes: number, settings: RegionSettings = {}): Region {
    const { access = rights.all, protectionDomain = this.protectionDomain } = settings;
    const { underlyingFunction = this.underlyingFunction, unmapped = [] } = settings;
    const firstPageOffset = 1000;
    const pages = Math.ceil((firstPageOffset + bytes) / page);
    const at = this.allocate(pages);
    const address = 0x7f00_0000_0000n + BigInt(at) * 16n + 8n;
    const key = this.port.createKey(
      encode('memory_key_entry', {
        underlying_function: underlyingFunction,
        access_flags: access,
        protection_domain: protectionDomain,
        base: address,
        length: bytes,
        page_log2: 12,
        first_page_offset: firstPageOffset,
      }),
      this.pagesAt(at, pages).map((each, index) => (unmapped.includes(index) ? 0n : each)),
    );
    return { key, address, bytes: this.memory.subarray(at + firstPageOffset, at + firstPageOffset + bytes) };
  }

  queuePair(settings: QueuePairSettings = {}): Requester {
    return new Requester(this, settings);
  }

  /** Lets the blocks work until all sleep; collects the answers in `answers`. */
  run(): void {
    do while (this.port.step());
    while (this.collect());
  }

  /** Collects the answers. Returns false if there are none. */
  collect(): boolean {
    const before = this.answers.length;
    for (let wire = this.port.takeAnswer(); wire !== null; wire = this.port.takeAnswer()) {
      const packet = parsePacket(LinkLayer.ethernet, wire);
      if (typeof packet === 'string') throw new Error(`an answer is not a packet: ${packet}`);
      const { fields, payload, destinationQueuePair } = packet;
      const name = specifiedPacketOpcodeNames[fields.opcode]!;
      if (!name.startsWith(prefix)) throw new Error(`an answer of another service: ${name}`);
      this.answers.push({
        queuePair: destinationQueuePair,
        opcode: name.slice(prefix.length),
        psn: fields.packetSequenceNumber,
        msn: fields.messageSequenceNumber,
        syndrome: fields.syndrome,
        originalData: fields.originalData,
        payload,
      });
    }
    return this.answers.length !== before;
  }

  /** The answers since the last call. */
  take(): Answer[] {
    this.run();
    return this.answers.splice(0);
  }

  /** The completions since the last call. */
  completions(): Decoded[] {
    const taken: Decoded[] = [];
    for (;;) {
      const slot = this.completed % this.completionQueueEntries;
      const phase = (Math.floor(this.completed / this.completionQueueEntries) & 1) ^ 1;
      const at = this.completionQueuePages + slot * 64;
      const entry = decode('completion_queue_entry', this.memory.slice(at, at + 64));
      if (entry['phase'] !== phase) break;
      taken.push(entry);
      ++this.completed;
    }
    new DataView(this.port.memory).setUint32(this.completionQueueHead, this.completed, true);
    return taken;
  }

  /** The event units since the last call. */
  events(): Decoded[] {
    return this.port.takeEvents().map((event) => decode('event_unit', event));
  }

  /** DMA addresses of consecutive pages from an offset on. */
  pagesAt(offset: number, count: number): bigint[] {
    return Array.from({ length: count }, (_, index) => this.port.base + BigInt(offset + index * page));
  }

  /** The offset of unused pages of host memory. */
  allocate(pages: number): number {
    const offset = this.used;
    this.used += pages * page;
    return offset;
  }
}

/** The peer of one queue pair of a responder, and the host's side of its receive queue. */
export class Requester {
  readonly number: number;
  readonly mtu: number;
  /** PSN of the next request. */
  psn: number;
  private readonly host: HostResponder;
  private readonly service: ServiceType;
  private readonly entries = 64;
  private readonly references: number;
  private readonly area: number;
  private readonly tail: number;
  private posted = 0;

  constructor(host: HostResponder, settings: QueuePairSettings) {
    const { pathMtu = PathMtu.mtu256, access = rights.all, psn = 201, silent = false } = settings;
    this.host = host;
    this.service = settings.service ?? ServiceType.reliableConnection;
    this.psn = psn;
    this.mtu = 128 << pathMtu;
    this.references = host.allocate(1);
    const areaPages = Math.ceil(this.entries / Math.floor(page / slotBytes));
    this.area = host.allocate(areaPages);
    this.tail = host.allocate(1);
    this.number = host.port.createQueuePair(
      host.underlyingFunction,
      encode('queue_pair_control', {
        state: settings.state ?? QueuePairState.readyToReceive,
        service_type: this.service,
        protection_domain: host.protectionDomain,
        port: 1,
        receive_queue_log2: Math.log2(this.entries),
        path_mtu: pathMtu,
        access_flags: access,
        receive_completion_queue: silent ? 0 : host.completionQueue,
        receive_entry_bytes: areaPages * page,
        receive_tail_address: host.port.base + BigInt(this.tail),
        destination_queue_pair: 0x4711,
        max_destination_read_atomic: settings.maxDestinationReadAtomic ?? 16,
        min_receiver_not_ready_timer: settings.receiverNotReadyTimer ?? 12,
        address_vector: encode('address_vector', {
          port: 1,
          is_global: 1,
          hop_limit: 64,
          gid_index: 1, // IPv4, as the destination
          destination_gid: examplePath('ethernet_ipv4').destinationGid,
        }),
      }),
      host.pagesAt(this.references, 1),
      host.pagesAt(this.area, areaPages),
    );
    this.setResponder({ expected_psn: psn });
  }

  /** Changes fields of the responder part. */
  setResponder(fields: Parameters<typeof encode>[1]): void {
    const { port, underlyingFunction } = this.host;
    port.setResponder(
      underlyingFunction,
      this.number,
      encode('queue_pair_responder', { ...this.responder(), ...fields }),
    );
  }

  responder(): Decoded {
    return decode(
      'queue_pair_responder',
      this.host.port.responder(this.host.underlyingFunction, this.number),
    );
  }

  get state(): number | null {
    return this.host.port.state(this.host.underlyingFunction, this.number);
  }

  set state(state: number) {
    this.host.port.setState(this.host.underlyingFunction, this.number, state);
  }

  /** Posts a receive work request: its sequence number. */
  postReceive(scatter: readonly Piece[]): number {
    const sequenceNumber = this.posted++;
    const slot = sequenceNumber % this.entries;
    const at = this.entryAt(sequenceNumber);
    const put = (where: number, format: string, fields: Parameters<typeof encode>[1]): void =>
      this.host.memory.set(encode(format, fields), where);
    put(at, 'receive_entry_header', {
      scatter_count: scatter.length,
      sequence_number: sequenceNumber,
    });
    scatter.forEach(({ region, offset: from, length }, index) =>
      put(at + 16 * (index + 1), 'gather_entry', {
        address: region.address + BigInt(from),
        length,
        local_key: region.key,
      }),
    );
    put(this.references + slot * 8, 'work_queue_reference', {
      offset: at - this.area,
      sequence_number: sequenceNumber,
      length: 16 * (scatter.length + 1),
    });
    new DataView(this.host.port.memory).setUint32(this.tail, this.posted, true);
    return sequenceNumber;
  }

  /** Changes the entry of a posted receive to that of another work request. */
  spoilEntry(sequenceNumber: number): void {
    this.host.memory.set(
      encode('receive_entry_header', { sequence_number: sequenceNumber + 1 }),
      this.entryAt(sequenceNumber),
    );
  }

  /** Writes the register receive_doorbell. */
  doorbell(): void {
    const tail = BigInt(this.posted) << BigInt(32 * UNDERLYING_FUNCTION_RECEIVE_DOORBELL_TAIL_WORD);
    this.host.port.doorbell(this.host.underlyingFunction, BigInt(this.number) | tail);
  }

  flush(): void {
    this.host.port.flush(this.host.underlyingFunction, this.number);
    this.host.run();
  }

  /**
   * Sends one request packet, with the next PSN unless `fields` has one.
   * @param opcode without the service
   * @param psns number of PSNs that it uses
   */
  packet(
    opcode: string,
    fields: Partial<PacketFields> = {},
    payload: Uint8Array = new Uint8Array(),
    psns = 1,
  ): number {
    const psn = fields.packetSequenceNumber ?? this.psn;
    if (fields.packetSequenceNumber === undefined) this.psn = (this.psn + psns) & 0xffffff;
    const path = examplePath('ethernet_ipv4', {
      sourceQueuePair: 0x4711,
      destinationQueuePair: this.number,
    });
    const wire = buildPacket(
      path,
      {
        ...noFields,
        ...fields,
        opcode: opcodeByName.get(`${specifiedServiceTypeNames[this.service]}_${opcode}`)!,
        packetSequenceNumber: psn,
      },
      payload,
    );
    const { port, underlyingFunction } = this.host;
    while (!port.arrive(underlyingFunction, this.number, wire)) {
      if (!port.step()) throw new Error('the responder takes no packet');
    }
    return psn;
  }

  /** Address of the entry of a receive work request in host memory. */
  private entryAt(sequenceNumber: number): number {
    const slot = sequenceNumber % this.entries;
    const perPage = Math.floor(page / slotBytes);
    return this.area + Math.floor(slot / perPage) * page + (slot % perPage) * slotBytes;
  }

  /** A SEND or RDMA WRITE in as many packets as needed; `fields` of the RETH are those of the first. */
  message(kind: 'send' | 'rdma_write', payload: Uint8Array, fields: Partial<PacketFields> = {}): void {
    const count = Math.max(1, Math.ceil(payload.length / this.mtu));
    const suffix = fields.immediateData === undefined ? '' : '_with_immediate';
    for (let index = 0; index < count; ++index) {
      const last = index === count - 1;
      const position = count === 1 ? 'only' : index === 0 ? 'first' : last ? 'last' : 'middle';
      this.packet(
        `${kind}_${position}${last ? suffix : ''}`,
        { dmaLength: payload.length, ...fields, acknowledgeRequest: last },
        payload.subarray(index * this.mtu, (index + 1) * this.mtu),
      );
    }
  }

  write(region: Region, offset: number, payload: Uint8Array, fields: Partial<PacketFields> = {}): void {
    this.message('rdma_write', payload, {
      virtualAddress: region.address + BigInt(offset),
      remoteKey: region.key,
      ...fields,
    });
  }

  /** The number of responses of a READ of this length. */
  responses(length: number): number {
    return Math.max(1, Math.ceil(length / this.mtu));
  }

  read(region: Region, offset: number, length: number, fields: Partial<PacketFields> = {}): number {
    return this.packet(
      'rdma_read_request',
      {
        virtualAddress: region.address + BigInt(offset),
        remoteKey: region.key,
        dmaLength: length,
        ...fields,
      },
      undefined,
      this.responses(length),
    );
  }

  fetchAndAdd(region: Region, offset: number, value: bigint, fields: Partial<PacketFields> = {}): number {
    return this.packet('fetch_and_add', {
      virtualAddress: region.address + BigInt(offset),
      remoteKey: region.key,
      swapAdd: value,
      ...fields,
    });
  }

  compareAndSwap(
    region: Region,
    offset: number,
    compare: bigint,
    swap: bigint,
    fields: Partial<PacketFields> = {},
  ): number {
    return this.packet('compare_and_swap', {
      virtualAddress: region.address + BigInt(offset),
      remoteKey: region.key,
      compare,
      swapAdd: swap,
      ...fields,
    });
  }
}

/** Distinct bytes, different from those of another seed. */
export function pattern(length: number, seed = 1): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 7 + (index >> 8) * 13 + seed * 31) & 0xff);
}
