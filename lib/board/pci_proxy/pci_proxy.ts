import type { Duplex } from 'node:stream';

import type { BoardFunction } from '../addon.ts';
import type { EmulatedBoard } from '../emulated_board.ts';
import { ConfigurationSpace, type ServedBar } from './configuration_space.ts';
import {
  ProxyCommand,
  ProxyMessages,
  answerMessage,
  barAccess,
  configurationAccess,
  type BarAccess,
  type ProxyMessage,
} from './message.ts';

/** The memory of a virtual machine: a file that it shares. */
export interface MachineMemory {
  readonly path: string;
  /** Whole pages; at most what lies below the machine's PCI hole. */
  readonly bytes: number;
}

const allOnes = 0xffff_ffff_ffff_ffffn;
const smallestBar = 4096;

/**
 * Function 0 of an emulated board as a PCI function of a virtual machine, at the other end of QEMU's x-pci-proxy-dev. Accesses to its
 * BARs reach the board in the sizes that the machine makes; its DMA reaches the machine's memory at physical addresses while it is bus
 * master. The machine's IOMMU is not asked, and there are no interrupts.
 *
 * Serves from now on, until the stream ends; then the function is closed, and with it reset.
 * @param stream the socket whose other end QEMU has as `fd`
 */
export function servePciFunction(board: EmulatedBoard, stream: Duplex, memory: MachineMemory): void {
  const proxy = new PciProxy(board, memory);
  stream.on('data', (part: Buffer) => {
    const answers = proxy.take(part);
    if (answers.length > 0) stream.write(answers);
  });
  stream.on('close', () => proxy.end());
  // The machine may end in the middle of an answer.
  stream.on('error', () => stream.destroy());
}

/** What the machine says, and what it is answered. */
class PciProxy {
  private readonly board: EmulatedBoard;
  private readonly memory: MachineMemory;
  private readonly configuration: ConfigurationSpace;
  private readonly messages = new ProxyMessages();
  private opened: BoardFunction;
  private isAttached = false;

  constructor(board: EmulatedBoard, memory: MachineMemory) {
    this.board = board;
    this.memory = memory;
    this.configuration = new ConfigurationSpace(barsOf(board));
    this.opened = board.open(0);
  }

  /** The answers to the messages that are whole with `part`. */
  take(part: Buffer): Buffer {
    return Buffer.concat(this.messages.take(part).flatMap((message) => this.answer(message)));
  }

  /** The machine is gone. */
  end(): void {
    this.master(false);
    this.opened.close();
  }

  private answer({ command, payload }: ProxyMessage): Buffer[] {
    switch (command) {
      case ProxyCommand.writeConfiguration: {
        const { offset, value, bytes } = configurationAccess(payload);
        if (this.configuration.write(offset, value, bytes).reset) this.reset();
        this.master(this.configuration.busMaster);
        return [answerMessage(0n)];
      }
      case ProxyCommand.readConfiguration: {
        const { offset, bytes } = configurationAccess(payload);
        return [answerMessage(BigInt(this.configuration.read(offset, bytes)))];
      }
      case ProxyCommand.writeBar:
        this.write(barAccess(payload));
        return [answerMessage(0n)];
      case ProxyCommand.readBar:
        return [answerMessage(this.read(barAccess(payload)))];
      case ProxyCommand.reset:
        this.configuration.clear();
        this.master(false);
        this.reset();
        return [answerMessage(0n)];
      default: // where memory and a level interrupt are: neither is needed here
        return [];
    }
  }

  private write({ address, value, bytes }: BarAccess): void {
    const place = this.configuration.find(address);
    if (place === undefined) return;
    const { bar, offset } = place;
    const low = Number(value & 0xffff_ffffn);
    if (bytes === 8) this.opened.write64(bar, offset, low, Number(value >> 32n));
    else if (bytes === 4) this.opened.write32(bar, offset, low);
    else {
      // A part of a DWORD is a transaction with byte enables.
      const first = offset % 4;
      const data = new Uint8Array(4);
      for (let index = 0; index < bytes; index++) data[first + index] = (low >>> (8 * index)) & 0xff;
      const byteEnables = ((1n << BigInt(bytes)) - 1n) << BigInt(first);
      this.board.post({ bar, offset: offset - first, data, byteEnables });
    }
  }

  private read({ address, bytes }: BarAccess): bigint {
    const place = this.configuration.find(address);
    if (place === undefined) return allOnes;
    const { bar, offset } = place;
    const first = offset % 4;
    const low = BigInt(this.opened.read32(bar, offset - first)) >> BigInt(8 * first);
    return bytes === 8 ? low | (BigInt(this.opened.read32(bar, offset + 4)) << 32n) : low;
  }

  /** DMA is refused while the function is no bus master. */
  private master(isMaster: boolean): void {
    if (isMaster === this.isAttached) return;
    this.isAttached = isMaster;
    if (isMaster) this.board.attachMemory(this.memory.path, this.memory.bytes);
    else this.board.detachMemory();
  }

  /** A function that nobody has open is reset. */
  private reset(): void {
    this.opened.close();
    this.opened = this.board.open(0);
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
