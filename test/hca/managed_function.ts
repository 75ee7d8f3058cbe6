import { ManagementOpcode, ManagementStatus, ServiceType, decode, encode } from '../../lib/spec/index.ts';
import { createInput, pageList } from './management_inputs.ts';
import {
  makeResourceManager,
  type ResourceManagerOptions,
  type ResourceManagerPort,
} from './resource_manager_port.ts';

const page = 4096;
const content = page - 16; // of a mailbox page

type Fields = Parameters<typeof encode>[1];

/**
 * A resource manager on a flat host memory from which a test allocates pages; context memory is already set.
 */
export class ManagedDevice {
  readonly port: ResourceManagerPort;
  readonly bytes: Uint8Array;
  readonly contextMemory: number;
  private next = page;

  constructor(options: Partial<ResourceManagerOptions> = {}) {
    this.port = makeResourceManager({
      memoryBytes: 2 << 20,
      queuePairs: 64,
      pageTableEntries: 1024,
      memoryKeys: 256,
      ...options,
    });
    this.bytes = new Uint8Array(this.port.memory);
    const needed = this.port.contextMemoryNeeded();
    this.contextMemory = this.allocate(needed);
    // The previous content of the memory must not matter.
    this.bytes.fill(0xff, this.contextMemory, this.contextMemory + needed);
    if (!this.port.openContextMemory(this.address(this.contextMemory), needed))
      throw new Error('context memory is refused');
    this.port.setEnabled(true);
  }

  /** Pages: their offset in host memory. */
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

  runUntilIdle(): void {
    for (let steps = 0; this.port.step(); ++steps)
      if (steps > 100_000) throw new Error('the resource manager does not come to rest');
  }
}

/** An answer to a management command. */
export interface Answer {
  opcode: number;
  status: number;
  resource: number;
  inMailbox: number;
  token: number;
  output: bigint;
  asked: number;
  left: number;
  sequenceNumber: number;
}

/** The management queues of a function, and one mailbox of each kind, as in a driver. */
export class ManagedFunction {
  readonly device: ManagedDevice;
  readonly underlyingFunction: number;
  readonly log2: number;
  readonly sendQueue: number;
  readonly completionQueue: number;
  readonly input: number;
  readonly output: number;
  tail = 0;
  private answersRead = 0;

  constructor(device: ManagedDevice, underlyingFunction: number, log2 = 3, inputPages = 4) {
    this.device = device;
    this.underlyingFunction = underlyingFunction;
    this.log2 = log2;
    this.sendQueue = device.allocate(64 << log2);
    this.completionQueue = device.allocate(64 << log2);
    this.input = device.allocate(page * inputPages);
    this.output = device.allocate(page);
    this.begin();
  }

  /** Sets the queues up again. */
  begin(): void {
    const { device } = this;
    device.bytes.fill(0, this.completionQueue, this.completionQueue + (64 << this.log2));
    this.tail = 0;
    this.answersRead = 0;
    device.port.beginManagement(
      this.underlyingFunction,
      this.log2,
      device.address(this.sendQueue),
      device.address(this.completionQueue),
    );
  }

  /** Writes `inputs` one after the other into the input mailbox; returns their length. */
  fillInput(inputs: readonly Uint8Array[]): number {
    const all = new Uint8Array(inputs.reduce((sum, part) => sum + part.length, 0));
    let length = 0;
    for (const part of inputs) {
      all.set(part, length);
      length += part.length;
    }
    for (let at = 0, offset = this.input; at < length; at += content, offset += page) {
      const portion = all.subarray(at, at + content);
      const next = at + content < length ? this.device.address(offset + page) : 0n;
      this.device.bytes.set(encode('mailbox_header', { next, length: portion.length }), offset);
      this.device.bytes.set(portion, offset + 16);
    }
    return length;
  }

  /** Puts a command into the send queue, and returns it. */
  post(opcode: ManagementOpcode, fields: Fields = {}, inputs: readonly Uint8Array[] = []): Uint8Array {
    const length = this.fillInput(inputs);
    const number = this.tail++;
    const command = encode('management_command', {
      opcode,
      send_queue_sequence_number: number & 0xffff,
      version: 1,
      token: number ^ 0x5a5a,
      input_mailbox: length > 0 ? this.device.address(this.input) : 0n,
      output_mailbox: this.device.address(this.output),
      input_length: length,
      output_length: content,
      ...fields,
    });
    this.device.bytes.set(command, this.sendQueue + (number % (1 << this.log2)) * 64);
    return command;
  }

  /** Rings the doorbell for all posted commands. */
  ring(): void {
    this.device.port.doorbell(this.underlyingFunction, this.tail & 0xffff);
  }

  /** The answers since the last call, in the order of the completion queue. */
  takeAnswers(): Answer[] {
    const taken: Answer[] = [];
    for (;;) {
      const offset = this.completionQueue + (this.answersRead % (1 << this.log2)) * 64;
      const entry = decode('management_completion', this.device.bytes.slice(offset, offset + 64));
      const round = Math.floor(this.answersRead / (1 << this.log2));
      const number = (name: string): number => Number(entry[name]);
      if (number('phase') !== ((round & 1) ^ 1) || number('sequence') !== this.answersRead) return taken;
      ++this.answersRead;
      taken.push({
        opcode: number('opcode'),
        status: number('status'),
        resource: number('resource'),
        inMailbox: number('in_mailbox'),
        token: number('token'),
        output: BigInt(entry['output'] as bigint | number),
        asked: number('asked'),
        left: number('left'),
        sequenceNumber: number('send_queue_sequence_number'),
      });
    }
  }

  /** Executes a command; returns its answer, which must be the only one. */
  execute(opcode: ManagementOpcode, fields: Fields = {}, inputs: readonly Uint8Array[] = []): Answer {
    this.post(opcode, fields, inputs);
    this.ring();
    this.device.runUntilIdle();
    const [answer, ...more] = this.takeAnswers();
    if (answer === undefined || more.length > 0)
      throw new Error(`one answer expected, ${answer === undefined ? 0 : more.length + 1} came`);
    return answer;
  }

  /** Like execute(), but throws unless it succeeds. Returns the number of the created object. */
  succeed(opcode: ManagementOpcode, fields: Fields = {}, inputs: readonly Uint8Array[] = []): number {
    const answer = this.execute(opcode, fields, inputs);
    if (answer.status !== ManagementStatus.success)
      throw new Error(`management command ${opcode} answered status ${answer.status}`);
    return Number(answer.output);
  }

  /** The fields that the last command left in the output mailbox. */
  outputOf(format: string, bytes: number): Record<string, unknown> {
    const at = this.output + 16;
    return decode(format, this.device.bytes.slice(at, at + bytes));
  }

  createProtectionDomain(): number {
    return this.succeed(ManagementOpcode.createProtectionDomain);
  }

  /** A queue pair in RESET. */
  createQueuePair(
    protectionDomain: number,
    serviceType: ServiceType = ServiceType.reliableConnection,
    fields: Fields = {},
  ): number {
    const input = createInput(protectionDomain, serviceType, fields);
    return this.succeed(ManagementOpcode.createQueuePair, {}, input);
  }

  modify(queuePairNumber: number, attributes: Fields): Answer {
    return this.execute(ManagementOpcode.modifyQueuePair, { input_modifier: queuePairNumber }, [
      encode('queue_pair_attributes', attributes),
    ]);
  }

  query(queuePairNumber: number): Record<string, unknown> {
    this.succeed(ManagementOpcode.queryQueuePair, { input_modifier: queuePairNumber });
    return this.outputOf('queue_pair_attributes', 128);
  }
}

/** A function that manages a device of its own, and a protection domain. */
export function makeHost(options: Partial<ResourceManagerOptions> = {}): {
  device: ManagedDevice;
  host: ManagedFunction;
  domain: number;
} {
  const device = new ManagedDevice(options);
  const host = new ManagedFunction(device, 1);
  return { device, host, domain: host.createProtectionDomain() };
}

/** Resources that a failed command must not have allocated. */
export function holdings(device: ManagedDevice): number[] {
  return [device.port.entriesFree(), device.port.queuePairsFree(), device.port.keysFree()];
}

/** Creates event queue 0 of a function, with 128 entries; returns its offset in host memory. */
export function makeEventQueue(host: ManagedFunction): number {
  const { device } = host;
  const queue = device.allocate(4096);
  const head = device.allocate(8);
  device.bytes.fill(0, queue, queue + 4096);
  device.bytes.fill(0, head, head + 8);
  host.succeed(ManagementOpcode.createEventQueue, {}, [
    encode('create_event_queue_input', {
      event_queue: 0,
      entries_log2: 7,
      pages: 1,
      head_address: device.address(head),
    }),
    pageList(1, Number(device.address(queue) >> 12n)),
  ]);
  return queue;
}

/** The events in the queue of makeEventQueue(), before it wraps. */
export function eventsOf(device: ManagedDevice, queue: number): Record<string, unknown>[] {
  return Array.from({ length: 128 }, (_, at) =>
    decode('event_queue_entry', device.bytes.slice(queue + at * 32, queue + at * 32 + 32)),
  ).filter((event) => Number(event['phase']) === 1);
}
