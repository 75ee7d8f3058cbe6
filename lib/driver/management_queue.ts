import type { DmaMemory } from '../board/addon.ts';
import {
  COMMAND_VERSION,
  MAILBOX_HEADER_BYTES,
  MANAGEMENT_COMMAND_BYTES,
  MANAGEMENT_COMPLETION_BYTES,
  MANAGEMENT_COMPLETION_PHASE_BYTE,
  MANAGEMENT_COMPLETION_PHASE_MASK,
  MANAGEMENT_COMPLETION_PHASE_SHIFT,
  ManagementStatus,
  PAGE_BYTES,
  UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_DOORBELL_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_QUEUE_SIZE_OFFSET,
  UNDERLYING_FUNCTION_MANAGEMENT_SEND_QUEUE_ADDRESS_OFFSET,
  decode,
  encode,
  type ManagementOpcode,
} from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { VerbsError } from './errors.ts';
import { requireKnown } from './function_status.ts';
import { Mailbox } from './mailbox.ts';
import { managementError, type ManagementAnswer } from './management_error.ts';
import { loadAcquire } from './memory_order.ts';

const entriesLog2 = 4;
const entries = 1 << entriesLog2;
/** Milliseconds after which a device that has not answered is given up; destroy waits for what is in flight. */
const timeout = 10_000;
/** Looks at an idle device until it is the time that its answer waits for: the first bring the command to it. */
const looksBeforeTimePasses = 2;

/** A management command. */
export interface ManagementRequest {
  /** Verb that it serves, in libibverbs' terms spelled out. */
  readonly verb: string;
  readonly opcode: ManagementOpcode;
  /** Object that the command is about. */
  readonly object?: number;
  /** Contents of the input mailbox: a structure of `inputFormat`, and lists behind it; `[]` after its name: several of them. */
  readonly input?: readonly Uint8Array[];
  readonly inputFormat?: string;
  /** Bytes that the output mailbox gets at most. */
  readonly outputBytes?: number;
}

/** Result of a management command. */
export interface ManagementResult {
  /** Number of the object made. */
  readonly number: number;
  /** Contents of the output mailbox. */
  readonly output: Uint8Array;
}

/** The management send and completion queue of a function. One command is carried out at a time. */
export class ManagementQueue {
  private readonly device: DeviceFunction;
  private readonly sendQueue: DmaMemory;
  private readonly completionQueue: DmaMemory;
  private readonly output: Mailbox;
  private readonly input: Mailbox;
  private readonly commands: Uint8Array;
  private readonly answers: Uint8Array;
  private readonly phases: Int32Array;
  private tail = 0;
  /** Called after each answer: the device reports it in the event queue too, where the driver does not look for it. */
  afterAnswer: (() => void) | undefined;
  /** Carries commands out in the place of the own queues, once the observation of the function was shared. */
  private shared: ((command: Uint8Array) => Uint8Array | undefined) | undefined;
  /** A command that was never answered may still be carried out: nothing can be asked any more. */
  private stopped = false;

  /** Begins both queues anew. */
  constructor(device: DeviceFunction) {
    this.device = device;
    this.sendQueue = device.allocate(entries * MANAGEMENT_COMMAND_BYTES);
    this.completionQueue = device.allocate(entries * MANAGEMENT_COMPLETION_BYTES);
    this.input = new Mailbox(device);
    this.output = new Mailbox(device);
    this.commands = new Uint8Array(this.sendQueue.buffer);
    this.answers = new Uint8Array(this.completionQueue.buffer);
    this.phases = new Int32Array(this.completionQueue.buffer);
    const { page } = device;
    page.write32(UNDERLYING_FUNCTION_MANAGEMENT_QUEUE_SIZE_OFFSET, entriesLog2);
    page.write64(UNDERLYING_FUNCTION_MANAGEMENT_SEND_QUEUE_ADDRESS_OFFSET, this.sendQueue.address);
    page.write64(
      UNDERLYING_FUNCTION_MANAGEMENT_COMPLETION_QUEUE_ADDRESS_OFFSET,
      this.completionQueue.address,
    );
  }

  /**
   * Carries out a command and waits for its answer.
   * @throws VerbsError what the device says of it; ENODEV: the device is gone; ETIMEDOUT: it does not answer
   */
  execute(request: ManagementRequest): ManagementResult {
    const { reason: loss } = this.device.loss;
    if (loss !== undefined) throw loss;
    if (this.stopped) throw this.unanswered(request, 'an earlier command was not answered');
    const answer = this.shared === undefined ? this.executeAlone(request) : this.executeShared(request);
    this.afterAnswer?.();
    if (answer.status !== ManagementStatus.success) {
      throw managementError(request.verb, answer, request.inputFormat);
    }
    const outputBytes = Math.min(request.outputBytes ?? 0, this.output.written);
    return { number: Number(answer.output), output: this.output.read(outputBytes) };
  }

  /**
   * Gives up the queues: who observes the function through its process ({@link BoardFunction.shareObservation}) has commands too.
   * @param execute carries out a command; it gives the answer, or undefined: there is none
   */
  shareWith(execute: (command: Uint8Array) => Uint8Array | undefined): void {
    this.shared = execute;
  }

  private executeAlone(request: ManagementRequest): ManagementAnswer {
    this.commands.set(this.commandOf(request), (this.tail % entries) * MANAGEMENT_COMMAND_BYTES);
    this.tail = (this.tail + 1) >>> 0;
    this.device.page.write32(UNDERLYING_FUNCTION_MANAGEMENT_DOORBELL_OFFSET, this.tail & 0xffff);
    return this.waitForAnswer(request);
  }

  private executeShared(request: ManagementRequest): ManagementAnswer {
    const answer = this.shared!(this.commandOf(request));
    if (answer !== undefined) return answerOf(answer);
    requireKnown(this.device);
    this.stopped = true;
    throw this.unanswered(request, `no answer came within ${timeout / 1000} s`);
  }

  private commandOf({ opcode, object = 0, input = [] }: ManagementRequest): Uint8Array {
    const length = this.input.write(input);
    return encode('management_command', {
      opcode,
      send_queue_sequence_number: this.tail & 0xffff,
      version: COMMAND_VERSION,
      token: this.tail,
      input_modifier: object,
      input_mailbox: length > 0 ? this.input.address : 0,
      input_length: length,
      output_mailbox: this.output.address,
      output_length: PAGE_BYTES - MAILBOX_HEADER_BYTES,
    });
  }

  private waitForAnswer(request: ManagementRequest): ManagementAnswer {
    const number = (this.tail - 1) >>> 0;
    const at = (number % entries) * MANAGEMENT_COMPLETION_BYTES;
    const dword = (at + MANAGEMENT_COMPLETION_PHASE_BYTE) / 4;
    const phase = (Math.floor(number / entries) & 1) ^ 1;
    const givenUp = performance.now() + timeout;
    let idle = 0;
    while (
      ((loadAcquire(this.phases, dword) >>> MANAGEMENT_COMPLETION_PHASE_SHIFT) &
        MANAGEMENT_COMPLETION_PHASE_MASK) !==
      phase
    ) {
      if (this.device.advance()) {
        idle = 0;
        continue;
      }
      // A read flushes posted writes to the device, and shows whether the device is gone.
      requireKnown(this.device);
      if (++idle > looksBeforeTimePasses) this.device.letTimePass();
      if (performance.now() > givenUp) {
        this.stopped = true;
        throw this.unanswered(request, `no answer came within ${timeout / 1000} s`);
      }
    }
    return answerOf(this.answers.slice(at, at + MANAGEMENT_COMPLETION_BYTES));
  }

  private unanswered({ verb }: ManagementRequest, why: string): VerbsError {
    return new VerbsError(`${verb}: ${why}`, {
      code: 'ETIMEDOUT',
      verb,
      expected: 'close the device and open it again, which resets its function',
    });
  }
}

function answerOf(completion: Uint8Array): ManagementAnswer {
  const entry = decode('management_completion', completion);
  return {
    status: entry['status'] as ManagementStatus,
    output: BigInt(entry['output'] as number | bigint),
    inMailbox: entry['in_mailbox'] === 1,
    resource: Number(entry['resource']),
    asked: Number(entry['asked']),
    left: Number(entry['left']),
  };
}
