import {
  CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET,
  CONTROL_CONTEXT_MEMORY_BYTES_OFFSET,
  CONTROL_CONTROL_OFFSET,
  IDENTITY_CONTEXT_MEMORY_NEEDED_OFFSET,
  ManagementOpcode,
  ManagementStatus,
  RegionType,
  UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_DOORBELL_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_QUEUE_SIZE_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_SEND_QUEUE_ADDRESS_OFFSET,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import { makeHca, type HcaOptions, type HcaPort } from './hca_port.ts';

const page = 4096;
const managementLog2 = 4;
const mailboxHeader = 16;
const inputPages = 4;

type Fields = Parameters<typeof encode>[1];
type Decoded = ReturnType<typeof decode>;

/** A whole HCA with a flat host memory, of which a test allocates pages. */
export class Device {
  readonly port: HcaPort;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  private next = page;

  constructor(options: Partial<HcaOptions> = {}) {
    this.port = makeHca({
      memoryBytes: 4 << 20,
      queuePairs: 256,
      pageTableEntries: 4096,
      memoryKeys: 256,
      ...options,
    });
    this.bytes = new Uint8Array(this.port.memory);
    this.view = new DataView(this.port.memory);
  }

  /** Zeroed pages, page aligned: their offset in host memory. */
  allocate(bytes: number): number {
    const offset = this.next;
    this.next += Math.ceil(bytes / page) * page;
    if (this.next > this.bytes.length) throw new RangeError('host memory is used up');
    return offset;
  }

  /** DMA address of an offset in host memory. */
  address(offset: number): bigint {
    return this.port.base + BigInt(offset);
  }

  put(offset: number, format: string, fields: Fields): void {
    this.bytes.set(encode(format, fields), offset);
  }

  get(offset: number, format: string, length: number): Decoded {
    return decode(format, this.bytes.subarray(offset, offset + length));
  }

  read32(region: RegionType, pageNumber: number, offset: number): number {
    return this.port.read(region, pageNumber, offset);
  }

  read64(region: RegionType, pageNumber: number, offset: number): bigint {
    const low = this.read32(region, pageNumber, offset);
    return (BigInt(this.read32(region, pageNumber, offset + 4)) << 32n) | BigInt(low);
  }

  write(
    region: RegionType,
    pageNumber: number,
    offset: number,
    bytes: Uint8Array,
    byteEnables?: bigint,
  ): void {
    while (!this.port.canAcceptWrite())
      if (!this.port.step()) throw new Error('a write is not accepted, and nothing moves');
    this.port.write(region, pageNumber, offset, bytes, byteEnables);
  }

  write32(region: RegionType, pageNumber: number, offset: number, value: number): void {
    this.write(region, pageNumber, offset, new Uint8Array(Uint32Array.of(value).buffer));
  }

  write64(region: RegionType, pageNumber: number, offset: number, value: bigint): void {
    this.write(region, pageNumber, offset, new Uint8Array(BigUint64Array.of(value).buffer));
  }

  /** Writes a command, padded to whole segments, to a VCB as aligned transactions of up to 64 B. */
  writeCommand(virtualCollectBuffer: number, command: Uint8Array): void {
    const padded = new Uint8Array(Math.ceil(command.length / 8) * 8);
    padded.set(command);
    for (let at = 0; at < padded.length; at += 64)
      this.write(RegionType.virtualCollectBuffer, virtualCollectBuffer, at, padded.subarray(at, at + 64));
  }

  runUntilIdle(): void {
    for (let steps = 0; this.port.step(); ++steps)
      if (steps > 1_000_000) throw new Error('the device does not come to rest');
  }

  /** Provides context memory and enables the device. */
  enable(): void {
    const needed = this.read64(RegionType.identity, 0, IDENTITY_CONTEXT_MEMORY_NEEDED_OFFSET);
    this.write64(
      RegionType.control,
      0,
      CONTROL_CONTEXT_MEMORY_ADDRESS_OFFSET,
      this.address(this.allocate(Number(needed))),
    );
    this.write64(RegionType.control, 0, CONTROL_CONTEXT_MEMORY_BYTES_OFFSET, needed);
    this.write32(RegionType.control, 0, CONTROL_CONTROL_OFFSET, 1);
  }
}

/** The management queues of a function, as in a driver. */
export class Management {
  readonly device: Device;
  readonly underlyingFunction: number;
  private readonly sendQueue: number;
  private readonly completionQueue: number;
  private readonly input: number;
  private readonly output: number;
  private tail = 0;

  constructor(device: Device, underlyingFunction: number) {
    this.device = device;
    this.underlyingFunction = underlyingFunction;
    this.sendQueue = device.allocate(64 << managementLog2);
    this.completionQueue = device.allocate(64 << managementLog2);
    this.input = device.allocate(inputPages * page);
    this.output = device.allocate(page);
    const write64 = (offset: number, value: bigint): void =>
      device.write64(RegionType.underlyingFunction, underlyingFunction, offset, value);
    device.write32(
      RegionType.underlyingFunction,
      underlyingFunction,
      UNDERLYING_FUNCTION_MANAGEMENT_QUEUE_SIZE_OFFSET,
      managementLog2,
    );
    write64(UNDERLYING_FUNCTION_MANAGEMENT_SEND_QUEUE_ADDRESS_OFFSET, device.address(this.sendQueue));
    write64(
      UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET,
      device.address(this.completionQueue),
    );
  }

  /** Executes a command and returns its answer and output. `inputs`: the contents of the input mailbox, in order. */
  execute(
    opcode: ManagementOpcode,
    fields: Fields = {},
    inputs: readonly Uint8Array[] = [],
  ): Decoded & { outputOffset: number } {
    const number = this.post(opcode, fields, inputs);
    this.device.runUntilIdle();
    const answer = this.answer(number);
    if (answer === undefined) throw new Error(`management command ${number} is not answered`);
    return { ...answer, outputOffset: this.output + 16 };
  }

  /** Posts a command, as execute() does, and returns its number. The preceding one must be answered. */
  post(opcode: ManagementOpcode, fields: Fields = {}, inputs: readonly Uint8Array[] = []): number {
    const { device } = this;
    const length = this.fillInput(inputs);
    const mask = (1 << managementLog2) - 1;
    const number = this.tail++;
    device.put(this.sendQueue + (number & mask) * 64, 'management_command', {
      opcode,
      send_queue_sequence_number: number & 0xffff,
      version: 1,
      token: number,
      input_mailbox: length > 0 ? device.address(this.input) : 0n,
      output_mailbox: device.address(this.output),
      input_length: length,
      output_length: page - 16,
      ...fields,
    });
    device.write32(
      RegionType.underlyingFunction,
      this.underlyingFunction,
      UNDERLYING_FUNCTION_MANAGEMENT_DOORBELL_OFFSET,
      this.tail & 0xffff,
    );
    return number;
  }

  /** Writes `inputs` one behind the other into the chained pages of the input mailbox. Returns the number of bytes. */
  private fillInput(inputs: readonly Uint8Array[]): number {
    const { device } = this;
    const all = inputs.flatMap((part) => [...part]);
    const content = page - mailboxHeader;
    for (let at = 0, offset = this.input; at < Math.max(1, all.length); at += content, offset += page) {
      const portion = all.slice(at, at + content);
      const next = at + content < all.length ? device.address(offset + page) : 0n;
      device.put(offset, 'mailbox_header', { next, length: portion.length });
      device.bytes.set(portion, offset + mailboxHeader);
    }
    return all.length;
  }

  /** The answer to a command, when it is there. */
  answer(number: number): Decoded | undefined {
    const mask = (1 << managementLog2) - 1;
    const answer = this.device.get(this.completionQueue + (number & mask) * 64, 'management_completion', 64);
    const isThere = answer['phase'] === (((number >> managementLog2) & 1) ^ 1) && answer['token'] === number;
    return isThere ? answer : undefined;
  }

  /** As execute(); throws unless the command succeeds. */
  succeed(
    opcode: ManagementOpcode,
    fields: Fields = {},
    inputs: readonly Uint8Array[] = [],
  ): ReturnType<Management['execute']> {
    const answer = this.execute(opcode, fields, inputs);
    if (answer['status'] !== ManagementStatus.success)
      throw new Error(
        `management command failed: ${JSON.stringify(answer, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v))}`,
      );
    return answer;
  }
}

/** A page list for a mailbox: the pages of `bytes` from an offset in host memory on. */
export function pageList(device: Device, offset: number, bytes: number): Uint8Array {
  const pages = Math.ceil(bytes / page);
  const list = new Uint8Array(pages * 8);
  for (let index = 0; index < pages; ++index)
    list.set(
      encode('page_table_entry', { valid: 1, page: (device.address(offset) >> 12n) + BigInt(index) }),
      index * 8,
    );
  return list;
}
