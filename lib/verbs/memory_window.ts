import { wrongType } from '../driver/arguments.ts';
import { MemoryWindow as WindowInDevice, type MemoryWindowType } from '../driver/memory_window.ts';
import { MEMORY_KEY_INDEX_BITS } from '../spec/index.ts';
import type { Context } from './context.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { VerbsObject } from './verbs_object.ts';

/**
 * A memory window: a key that lets a peer access a part of a memory region for as long as the owner allows. {@link
 * QueuePair.bindMemoryWindow} binds a window of type 1, binds it again and unbinds it. A work request (`Opcode.bindMemoryWindow`) binds a
 * window of type 2 and chooses the low byte of its key. After that only peers of that queue pair can use it, until
 * `Opcode.localInvalidate`, or the peer's `Opcode.sendWithInvalidate`, invalidates it.
 */
export class MemoryWindow extends VerbsObject {
  readonly label: string;
  /** How the window is bound: 1 by a verb, 2 by a work request. */
  readonly type: MemoryWindowType;
  /** The driver's object, for tools. */
  readonly driver: WindowInDevice;
  private key: number;

  /** {@link ProtectionDomain.createMemoryWindow} makes memory windows. */
  constructor(context: Context, protectionDomain: ProtectionDomain, type: MemoryWindowType) {
    if (type !== 1 && type !== 2) {
      throw wrongType('type', '1 or 2', type);
    }
    super([protectionDomain]);
    this.type = type;
    this.driver = new WindowInDevice(context.driver.management, protectionDomain.driver, type);
    this.key = this.driver.key;
    this.label = `memory window 0x${this.key.toString(16)}`;
  }

  /** R_Key of the last bind that was posted. */
  get remoteKey(): number {
    return this.key;
  }

  /** Records the key of a posted bind. */
  bound(key: number): void {
    this.key = key;
  }

  protected destroy(): void {
    this.driver.destroy();
  }
}

const variantMask = 2 ** (32 - MEMORY_KEY_INDEX_BITS) - 1;

/** Returns the key with its low byte incremented, as ibv_inc_rkey does, for the next bind of a window of type 2. */
export function nextRemoteKey(key: number): number {
  return ((key & ~variantMask) | ((key + 1) & variantMask)) >>> 0;
}
