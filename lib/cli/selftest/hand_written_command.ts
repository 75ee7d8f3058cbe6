import { encodeCommand } from '../../driver/command.ts';
import type { DeviceFunction } from '../../driver/device_function.ts';
import { blockNamed, fieldsOf, readNamed, registerNamed } from '../../driver/named_registers.ts';
import type { HcaDriver } from '../../driver/hca_driver.ts';
import type { VirtualCollectBuffer, VirtualCollectBuffers } from '../../driver/virtual_collect_buffers.ts';
import {
  COMMAND_HEADER_BYTES,
  CONTROL_INSPECT_SELECT_OFFSET,
  CONTROL_INSPECT_SELECT_PHYSICAL_COLLECT_BUFFER_MASK,
  CONTROL_INSPECT_SELECT_PHYSICAL_COLLECT_BUFFER_SHIFT,
  CONTROL_INSPECT_SELECT_VIRTUAL_COLLECT_BUFFER_SHIFT,
  Opcode,
  UNDERLYING_FUNCTION_KICKS_OFFSET,
  type VirtualCollectBufferState,
} from '../../spec/index.ts';
import { UnansweredQueuePair } from '../unanswered_queue_pair.ts';

/** State of a VCB and of its PCB, from the registers of the control function. */
export interface Inspected {
  readonly state: VirtualCollectBufferState;
  /** The refusal that put it into error. */
  readonly refusal: number;
  /** 40 bits: segments that were written or are unused, in both variants of the scoreboard (US8589610). */
  readonly check: bigint;
}

const inlineBytes = 16;

/** A command of 16 B, written to its VCB segment by segment. No peer answers it. */
export class HandWrittenCommand {
  readonly buffer: VirtualCollectBuffer;
  /** Bytes of the command. */
  readonly length = COMMAND_HEADER_BYTES + inlineBytes;
  readonly source: UnansweredQueuePair;
  private readonly device: DeviceFunction;
  private readonly buffers: VirtualCollectBuffers;
  private readonly dwords = new Uint32Array(this.length / Uint32Array.BYTES_PER_ELEMENT);
  private sequenceNumber = 0;

  constructor(driver: HcaDriver) {
    this.device = driver.device;
    this.buffers = driver.virtualCollectBuffers;
    this.source = new UnansweredQueuePair(driver, { entries: 4, gatherEntries: 0, inlineBytes });
    this.buffer = this.source.queuePair.virtualCollectBuffer;
  }

  /** Encodes the next command of the queue pair. */
  encode(): void {
    const { number: queuePairNumber, level } = this.source.queuePair;
    const request = { opcode: Opcode.send, inlineData: new Uint8Array(inlineBytes).fill(0x5a) };
    const origin = { queuePairNumber, level, checksumSecret: 0 };
    encodeCommand(this.dwords, new Uint8Array(this.dwords.buffer), 0, origin, this.sequenceNumber, request);
    this.sequenceNumber += 1;
  }

  /** Whether the function has registers that show a scoreboard. */
  get canInspect(): boolean {
    return this.device.controlPage !== undefined;
  }

  /** Writes the segments from `first` to `last`, byte offsets in the command, and fences. */
  write(first: number, last: number): void {
    const { board, virtualCollectBufferRegion } = this.device;
    for (let at = first; at <= last; at += 8) {
      const [low, high] = [this.dwords[at / 4]!, this.dwords[at / 4 + 1]!];
      board.write64(virtualCollectBufferRegion.bar, this.buffer.offset + at, low, high);
    }
    board.fence();
  }

  /** Number of kicked commands. As a read, it follows all earlier writes to the device. */
  get kicks(): bigint {
    return this.device.page.read64(UNDERLYING_FUNCTION_KICKS_OFFSET);
  }

  /** PCBs that the function uses: the low level's own, the high level's own, and those that its levels share. */
  get buffersInUse(): number {
    const block = blockNamed('underlying_function');
    const register = registerNamed(block, 'physical_collect_buffers_in_use');
    return readNamed(this.device.page, register).values.reduce((sum, value) => sum + Number(value), 0);
  }

  /** Whether the VCB has an incomplete command, or is in error. */
  get isInUse(): boolean {
    const index = this.buffers.all.findIndex(({ number }) => number === this.buffer.number);
    const block = blockNamed('underlying_function');
    const { values } = readNamed(this.device.page, registerNamed(block, 'virtual_collect_buffer_in_use'));
    return ((values[index >> 5]! >> BigInt(index % 32)) & 1n) === 1n;
  }

  /** The state of the VCB. @throws Error without {@link canInspect} */
  inspect(): Inspected {
    const page = this.device.controlPage;
    if (page === undefined) throw new Error('only underlying function 0 can read scoreboards');
    const { number } = this.buffer;
    const block = blockNamed('control');
    const value = (name: string): bigint => readNamed(page, registerNamed(block, name)).values[0]!;
    const select = (physical: number): void =>
      page.write32(
        CONTROL_INSPECT_SELECT_OFFSET,
        ((number << CONTROL_INSPECT_SELECT_VIRTUAL_COLLECT_BUFFER_SHIFT) |
          (physical << CONTROL_INSPECT_SELECT_PHYSICAL_COLLECT_BUFFER_SHIFT)) >>>
          0,
      );
    select(0);
    const name = 'inspect_virtual_collect_buffer';
    const fields = fieldsOf(registerNamed(block, name), value(name));
    const bound = fields['physical_collect_buffer']!;
    const { state, refusal } = fields as { state: VirtualCollectBufferState; refusal: number };
    if (bound === CONTROL_INSPECT_SELECT_PHYSICAL_COLLECT_BUFFER_MASK) return { state, refusal, check: 0n };
    select(bound);
    const isMasked = this.device.identity.capabilities.scoreboardVariant === 'masked';
    const check = value('inspect_scoreboard') | (isMasked ? 0n : value('inspect_scoreboard_mask'));
    return { state, refusal, check };
  }
}
