// The messages of QEMU's x-pci-proxy-dev (its file docs/devel/multi-process, and hw/remote): 32 bits of command, 32 of nothing, 64
// of size, then so many bytes; little-endian here. A descriptor that comes beside a message is not taken.

const headerBytes = 16;

/** Requests of the other side. */
export const ProxyCommand = {
  /** Where the machine's memory lies: answered by nothing. */
  synchronizeMemory: 0,
  /** An answer: 64 bits. */
  answer: 1,
  writeConfiguration: 2,
  readConfiguration: 3,
  writeBar: 4,
  readBar: 5,
  /** The descriptors of a level interrupt: answered by nothing. */
  setInterrupt: 6,
  reset: 7,
} as const;

/** A message that came whole. */
export interface ProxyMessage {
  readonly command: number;
  readonly payload: Buffer;
}

/** An access to configuration space. */
export interface ConfigurationAccess {
  readonly offset: number;
  readonly value: number;
  /** 1, 2 or 4. */
  readonly bytes: number;
}

/** An access to a BAR, at an address of the machine. */
export interface BarAccess {
  readonly address: bigint;
  readonly value: bigint;
  /** 1, 2, 4 or 8. */
  readonly bytes: number;
}

/** Puts messages together from what comes in parts. */
export class ProxyMessages {
  private rest: Buffer = Buffer.alloc(0);

  /** The messages that are whole with `part`. */
  take(part: Buffer): ProxyMessage[] {
    this.rest = this.rest.length === 0 ? part : Buffer.concat([this.rest, part]);
    const messages: ProxyMessage[] = [];
    while (this.rest.length >= headerBytes) {
      const end = headerBytes + Number(this.rest.readBigUInt64LE(8));
      if (this.rest.length < end) break;
      messages.push({ command: this.rest.readInt32LE(0), payload: this.rest.subarray(headerBytes, end) });
      this.rest = this.rest.subarray(end);
    }
    return messages;
  }
}

/** The message that answers. */
export function answerMessage(value: bigint): Buffer {
  const message = Buffer.alloc(headerBytes + 8);
  message.writeInt32LE(ProxyCommand.answer, 0);
  message.writeBigUInt64LE(8n, 8);
  message.writeBigUInt64LE(value, headerBytes);
  return message;
}

/** The payload of an access to configuration space. */
export function configurationAccess(payload: Buffer): ConfigurationAccess {
  return { offset: payload.readUInt32LE(0), value: payload.readUInt32LE(4), bytes: payload.readInt32LE(8) };
}

/** The payload of an access to a BAR. */
export function barAccess(payload: Buffer): BarAccess {
  return {
    address: payload.readBigUInt64LE(0),
    value: payload.readBigUInt64LE(8),
    bytes: payload.readUInt32LE(16),
  };
}
