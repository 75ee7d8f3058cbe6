import type { Duplex } from 'node:stream';

import { EVENT_QUEUES_PER_FUNCTION, UNDERLYING_FUNCTIONS } from '../../../lib/spec/index.ts';
import type { BoardFunction, Interrupt } from '../../../lib/board/addon.ts';
import type { EmulatedBoard } from '../../../lib/board/emulated_board.ts';
import { ConfigurationSpace, type ServedBar, type ServedVectors } from './configuration_space.ts';
import type { MachineBus } from './machine_bus.ts';
import {
  ProxyCommand,
  ProxyMessages,
  answerMessage,
  barAccess,
  configurationAccess,
  type BarAccess,
  type ProxyMessage,
} from './message.ts';
import {
  MessageSignaledInterrupts,
  interruptBarBytes,
  pendingOffset,
} from './message_signaled_interrupts.ts';
import { RemappingUnit, type InterruptMessage } from './remapping_unit.ts';

/** A virtual machine, as a function in it reaches it. */
export interface Machine {
  /** Its memory: a file that it shares. */
  readonly memory: {
    readonly path: string;
    /** Whole pages; at most what lies below the machine's PCI hole. */
    readonly bytes: number;
  };
  /** Its bus. Without it the function has no interrupts, and the machine's IOMMU is not asked. */
  readonly control?: {
    readonly bus: MachineBus;
    /** Of the function: bus 15:8, device 7:3, function 2:0. */
    readonly sourceId: number;
  };
}

/** A function that a machine has. */
export interface ServedPciFunction {
  /** Settles when the stream has ended. Rejects: the machine's memory or bus was not to be had. */
  readonly ended: Promise<void>;
  /**
   * Puts another board behind the function, as one whose FPGA is loaded anew: configuration space stays as it is, with the sizes of
   * its BARs. Where the board has fewer functions, nothing answers behind this one.
   * @throws Error: a region of the board lies in none of them
   */
  load(board: EmulatedBoard): void;
}

const allOnes = 0xffff_ffff_ffff_ffffn;
const smallestBar = 4096;
const barCount = 6;

/**
 * An underlying function of an emulated board as a PCI function of a virtual machine, at the other end of QEMU's x-pci-proxy-dev.
 * Accesses to its BARs reach the board in the sizes that the machine makes. Its DMA reaches the machine's memory while it is bus
 * master: where the tables of the machine's IOMMU say, or at physical addresses where that does not translate. Its vectors send
 * messages, which that IOMMU's table remaps.
 *
 * Serves from now on, until the stream ends; then the function is closed, and with it reset.
 * @param stream the socket whose other end QEMU has as `fd`
 */
export function servePciFunction(
  board: EmulatedBoard,
  stream: Duplex,
  machine: Machine,
  underlyingFunction = 0,
): ServedPciFunction {
  let proxy: PciProxy | undefined;
  const ended = new Promise<void>((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error);
      stream.destroy();
    };
    const serving = new PciProxy(board, underlyingFunction, machine, (answer) => stream.write(answer), fail);
    proxy = serving;
    stream.on('data', (part: Buffer) => serving.take(part));
    stream.on('close', () => {
      serving.end();
      resolve();
    });
    // The machine may end in the middle of an answer.
    stream.on('error', () => stream.destroy());
  });
  return { ended, load: (another) => proxy!.load(another) };
}

/** Answers the requests of the machine. */
class PciProxy {
  private board: EmulatedBoard;
  private readonly underlyingFunction: number;
  private readonly machine: Machine;
  private readonly send: (answer: Buffer) => void;
  private readonly fail: (error: unknown) => void;
  private readonly bars: readonly ServedBar[];
  private readonly configuration: ConfigurationSpace;
  private readonly vectors: ServedVectors | undefined;
  private readonly interrupts: MessageSignaledInterrupts;
  private readonly messages = new ProxyMessages();
  private readonly waiting: ProxyMessage[] = [];
  private isBusy = false;
  private remapping: RemappingUnit | undefined;
  /** Undefined: the board has no such function. */
  private opened: BoardFunction | undefined;
  private subscriptions: Interrupt[] = [];
  private isAttached = false;
  private hasEnded = false;

  constructor(
    board: EmulatedBoard,
    underlyingFunction: number,
    machine: Machine,
    send: (answer: Buffer) => void,
    fail: (error: unknown) => void,
  ) {
    this.board = board;
    this.underlyingFunction = underlyingFunction;
    this.machine = machine;
    this.send = send;
    this.fail = fail;
    const bars = barsOf(board);
    if (machine.control !== undefined) {
      this.vectors = { vectors: EVENT_QUEUES_PER_FUNCTION, bar: freeBar(bars), pendingOffset };
      bars.push({ bar: this.vectors.bar, bytes: interruptBarBytes, prefetchable: false });
    }
    this.bars = bars;
    this.configuration = new ConfigurationSpace(bars, this.vectors);
    this.interrupts = new MessageSignaledInterrupts(EVENT_QUEUES_PER_FUNCTION, (message) =>
      this.interrupt(message),
    );
    this.open();
  }

  /** Answers the messages that are whole with `part`, each after those before it. */
  take(part: Buffer): void {
    this.waiting.push(...this.messages.take(part));
    this.proceed();
  }

  load(board: EmulatedBoard): void {
    for (const { bar, bytes, prefetchable } of barsOf(board)) {
      const served = this.bars.find((each) => each.bar === bar && each.prefetchable === prefetchable);
      if (served !== undefined && served.bytes >= bytes) continue;
      throw new Error(
        `the board has ${bytes} B in BAR ${bar}; expected: at most ${served?.bytes ?? 0} B, as the function was given to the machine`,
      );
    }
    this.detach();
    this.board = board;
    this.reset();
  }

  /** The machine is gone. */
  end(): void {
    this.hasEnded = true;
    this.detach();
    this.opened?.close();
  }

  private proceed(): void {
    while (!this.isBusy && !this.hasEnded) {
      const message = this.waiting.shift();
      if (message === undefined) return;
      this.answer(message);
    }
  }

  private answer({ command, payload }: ProxyMessage): void {
    switch (command) {
      case ProxyCommand.writeConfiguration:
        this.configure(payload);
        break;
      case ProxyCommand.readConfiguration: {
        const { offset, bytes } = configurationAccess(payload);
        this.reply(BigInt(this.configuration.read(offset, bytes)));
        break;
      }
      case ProxyCommand.writeBar:
        this.write(barAccess(payload));
        this.reply(0n);
        break;
      case ProxyCommand.readBar:
        this.reply(this.read(barAccess(payload)));
        break;
      case ProxyCommand.reset:
        this.configuration.clear();
        this.detach();
        this.reset();
        this.reply(0n);
        break;
      default: // where memory and a level interrupt are: neither is needed here
    }
  }

  private reply(value: bigint): void {
    this.send(answerMessage(value));
  }

  private configure(payload: Buffer): void {
    const { offset, value, bytes } = configurationAccess(payload);
    const { reset } = this.configuration.write(offset, value, bytes);
    if (reset) {
      this.detach();
      this.reset();
    }
    this.interrupts.open(this.configuration.vectorsOpen);
    if (this.configuration.busMaster && !this.isAttached) {
      this.isBusy = true;
      this.attach().catch(this.fail);
      return;
    }
    if (!this.configuration.busMaster) this.detach();
    this.reply(0n);
  }

  /** The function becomes bus master: its DMA and its interrupts go the way that the machine has set up by now. */
  private async attach(): Promise<void> {
    const { memory, control } = this.machine;
    if (control !== undefined)
      this.remapping = await RemappingUnit.read(control.bus, control.sourceId, memory.path);
    if (this.hasEnded) return;
    if (this.opened !== undefined) {
      this.board.attachMemory(this.underlyingFunction, memory.path, memory.bytes, this.remapping?.root);
      this.isAttached = true;
    }
    this.isBusy = false;
    this.reply(0n);
    this.proceed();
  }

  /** DMA is refused while the function is no bus master. */
  private detach(): void {
    if (this.isAttached) this.board.detachMemory(this.underlyingFunction);
    this.isAttached = false;
  }

  private write(access: BarAccess): void {
    const place = this.configuration.find(access.address);
    if (place === undefined) return;
    const { bar, offset } = place;
    const { value, bytes } = access;
    const low = Number(value & 0xffff_ffffn);
    if (bar === this.vectors?.bar) this.interrupts.write(offset, value, bytes);
    else if (bytes === 8) this.opened?.write64(bar, offset, low, Number(value >> 32n));
    else if (bytes === 4) this.opened?.write32(bar, offset, low);
    else {
      // A part of a DWORD is a transaction with byte enables.
      const first = offset % 4;
      const data = new Uint8Array(4);
      for (let index = 0; index < bytes; index++) data[first + index] = (low >>> (8 * index)) & 0xff;
      const byteEnables = ((1n << BigInt(bytes)) - 1n) << BigInt(first);
      const { underlyingFunction } = this;
      if (this.opened !== undefined)
        this.board.post({ underlyingFunction, bar, offset: offset - first, data, byteEnables });
    }
  }

  private read({ address, bytes }: BarAccess): bigint {
    const place = this.configuration.find(address);
    if (place === undefined) return allOnes;
    const { bar, offset } = place;
    if (bar === this.vectors?.bar) return this.interrupts.read(offset, bytes);
    if (this.opened === undefined) return allOnes;
    const first = offset % 4;
    const low = BigInt(this.opened.read32(bar, offset - first)) >> BigInt(8 * first);
    return bytes === 8 ? low | (BigInt(this.opened.read32(bar, offset + 4)) << 32n) : low;
  }

  /** Sends a message, a write of the function's as its DMA is. */
  private interrupt(message: InterruptMessage): void {
    if (!this.isAttached) return;
    const remapped = this.remapping?.remap(message);
    if (remapped === undefined) return;
    this.machine.control!.bus.write32(Number(remapped.address), remapped.data).catch((error: unknown) => {
      if (!this.hasEnded) this.fail(error);
    });
  }

  private open(): void {
    const { board, vectors, underlyingFunction } = this;
    const { underlyingFunctions = UNDERLYING_FUNCTIONS } = board.options;
    this.opened = undefined;
    this.subscriptions = [];
    if (underlyingFunction >= underlyingFunctions) return;
    const opened = board.open(underlyingFunction);
    this.opened = opened;
    this.subscriptions = Array.from({ length: vectors?.vectors ?? 0 }, (_, vector) =>
      opened.interrupt(vector, () => this.interrupts.signal(vector)),
    );
  }

  /** A function that no process has open is reset. */
  private reset(): void {
    for (const subscription of this.subscriptions) subscription.close();
    this.opened?.close();
    this.interrupts.clear();
    this.open();
  }
}

/** BARs that hold the regions of the board. */
function barsOf({ regions }: EmulatedBoard): ServedBar[] {
  const numbers = [...new Set(regions.map(({ bar }) => bar))];
  return numbers.map((bar) => {
    const inside = regions.filter((region) => region.bar === bar);
    const end = Math.max(smallestBar, ...inside.map(({ offset, size }) => offset + size));
    return {
      bar,
      bytes: 2 ** Math.ceil(Math.log2(end)),
      prefetchable: inside.every(({ prefetchable }) => prefetchable),
    };
  });
}

function freeBar(bars: readonly ServedBar[]): number {
  const free = Array.from({ length: barCount }, (_, bar) => bar).filter((bar) =>
    bars.every((each) => each.bar !== bar),
  );
  if (free.length === 0)
    throw new Error('the board has a region in every BAR, and none is left for its vectors');
  return free[0]!;
}
