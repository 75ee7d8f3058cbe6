import type { BoardFunction, BoardOptions, DmaMemory, EmulatedBoard } from '../../lib/board/addon.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import type { SendRequest } from '../../lib/driver/command.ts';
import type { DeviceEvent } from '../../lib/driver/event_queue.ts';
import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { KickRecord, KickRecordRing } from '../../lib/driver/kick_records.ts';
import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import type { QueuePair } from '../../lib/driver/queue_pair.ts';
import type { VirtualCollectBuffer } from '../../lib/driver/virtual_collect_buffers.ts';
import {
  KickRecordType,
  PhysicalCollectBufferState,
  VirtualCollectBufferState,
} from '../../lib/spec/index.ts';
import { closing, makeBoard, type Backend } from './backends.ts';

/** A command as the driver would copy it to a virtual collect buffer. */
export interface WrittenCommand {
  /** Offset in the BAR. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A function of a board; commands that its driver would write go to `written` instead. */
export function capturing(board: BoardFunction, written: WrittenCommand[]): BoardFunction {
  return new Proxy(board, {
    get: (target, property) => {
      if (property === 'commandWriter') {
        return (memory: DmaMemory) => {
          const words = new Uint32Array(4);
          const writeCommand = (): void => {
            const [, offset, source, length] = words as unknown as [number, number, number, number];
            written.push({ offset, bytes: new Uint8Array(memory.buffer).slice(source, source + length) });
          };
          return { number: 0, calls: { words, writeCommand } };
        };
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const stepped: Backend = { name: 'emu:?progress=stepped', options: { progress: 'stepped' } };
const recordsLog2 = 12;

/**
 * A stepped board whose driver encodes commands as usual. The test makes the writes to virtual collect buffers itself, as
 * transactions of any kind and in any order.
 */
export class CommandBench {
  readonly board: EmulatedBoard;
  readonly driver: HcaDriver;
  /** Commands that the driver has written since the last call. */
  readonly written: WrittenCommand[] = [];
  readonly records: KickRecordRing;

  constructor(options: BoardOptions = {}, underlyingFunction = 0) {
    this.board = makeBoard(stepped, options);
    this.driver = closing(new HcaDriver(capturing(this.board.open(underlyingFunction), this.written)));
    this.records = new KickRecordRing(this.driver.device, recordsLog2);
  }

  makeQueuePair(entries = 64): QueuePair {
    return new UnansweredQueuePair(this.driver, { entries, gatherEntries: 16, inlineBytes: 256 }).queuePair;
  }

  /** The command of a work request that is in the send queue but not written to a VCB yet. */
  encode(queuePair: QueuePair, request: SendRequest): WrittenCommand {
    queuePair.post(request);
    const command = this.written.pop();
    if (command === undefined) throw new Error('the driver wrote no command');
    return command;
  }

  /** Sends one write transaction: `bytes` at an offset in the BAR, within an aligned block of 64 B. */
  write(offset: number, bytes: Uint8Array, byteEnables?: bigint): void {
    const { bar } = this.driver.device.virtualCollectBufferRegion;
    const { underlyingFunction } = this.driver.device;
    const enables = byteEnables === undefined ? {} : { byteEnables };
    this.board.post({ underlyingFunction, bar, offset, data: bytes, ...enables });
  }

  /** Writes a command as a processor would: in lines of 64 B. */
  writeWhole({ offset, bytes }: WrittenCommand): void {
    for (let at = 0; at < bytes.length; at += 64) this.write(offset + at, bytes.subarray(at, at + 64));
  }

  /** Reads a register of the function's page or a control register. Earlier writes have then reached the device. */
  register(name: string, block: 'underlying_function' | 'control' = 'underlying_function'): bigint {
    return this.values(name, block)[0]!;
  }

  values(name: string, block: 'underlying_function' | 'control' = 'underlying_function'): readonly bigint[] {
    const { page, controlPage } = this.driver.device;
    return readNamed(block === 'control' ? controlPage! : page, registerNamed(blockNamed(block), name))
      .values;
  }

  /** A VCB, and the PCB that it is bound to, as the inspect window of the control function shows them. */
  inspect(buffer: VirtualCollectBuffer): {
    state: VirtualCollectBufferState;
    refusal: number;
    scoreboard: bigint;
    mask: bigint;
  } {
    const control = this.driver.device.controlPage!;
    const named = (name: string): ReturnType<typeof readNamed> =>
      readNamed(control, registerNamed(blockNamed('control'), name));
    const select = registerNamed(blockNamed('control'), 'inspect_select').offset;
    control.write32(select, buffer.number * 0x1_0000);
    const [fields] = named('inspect_virtual_collect_buffer').fields;
    control.write32(select, buffer.number * 0x1_0000 + (fields!['physical_collect_buffer']! & 0xff));
    return {
      state: fields!['state'] as VirtualCollectBufferState,
      refusal: fields!['refusal']!,
      scoreboard: named('inspect_scoreboard').values[0]!,
      mask: named('inspect_scoreboard_mask').values[0]!,
    };
  }

  /** Physical collect buffers that are not free: pool and dedicated. */
  buffersInUse(): number {
    const control = this.driver.device.controlPage!;
    const { physicalCollectBuffers, dedicatedPhysicalCollectBuffers } = this.driver.device.identity;
    const select = registerNamed(blockNamed('control'), 'inspect_select').offset;
    let inUse = 0;
    for (let buffer = 0; buffer < physicalCollectBuffers + dedicatedPhysicalCollectBuffers; buffer++) {
      control.write32(select, buffer);
      const [fields] = readNamed(
        control,
        registerNamed(blockNamed('control'), 'inspect_physical_collect_buffer'),
      ).fields;
      if (fields!['state'] !== PhysicalCollectBufferState.free) inUse += 1;
    }
    return inUse;
  }

  /** Runs the device until it is idle. Returns the kick records that it wrote meanwhile. */
  settle(): KickRecord[] {
    this.board.runUntilIdle();
    const taken: KickRecord[] = [];
    for (;;) {
      const record = new KickRecord();
      if (this.records.poll([record]) === 0) return taken;
      taken.push(record);
    }
  }

  events(): DeviceEvent[] {
    const taken: DeviceEvent[] = [];
    for (let event = this.driver.events.poll(); event !== undefined; event = this.driver.events.poll()) {
      taken.push(event);
    }
    return taken;
  }
}

/** Sequence numbers of a queue pair in the order of sending. */
export function sentBy(queuePair: QueuePair, records: readonly KickRecord[]): number[] {
  return records
    .filter(
      ({ type, queuePairNumber }) => type === KickRecordType.sent && queuePairNumber === queuePair.number,
    )
    .map(({ sendQueueSequenceNumber }) => sendQueueSequenceNumber);
}
