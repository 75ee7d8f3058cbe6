import { wrongType } from '../driver/arguments.ts';
import { MemoryWindow as WindowInDevice, type MemoryWindowType } from '../driver/memory_window.ts';
import { MEMORY_KEY_INDEX_BITS } from '../spec/index.ts';
import type { Context } from './context.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { VerbsObject } from './verbs_object.ts';

/**
 * A memory window: a key that lets a peer reach a part of a memory region, for as long as its owner wants. Type 1 is bound by
 * {@link QueuePair.bindMemoryWindow}, and bound anew or unbound in the same way. Type 2 is bound by a work request
 * (`Opcode.bindMemoryWindow`), which chooses the low byte of its key; from then on it is reached by that queue pair alone, until it is
 * taken back by `Opcode.localInvalidate`, or by the peer with `Opcode.sendWithInvalidate`.
 */
export class MemoryWindow extends VerbsObject {
  readonly label: string;
  /** How it is bound: 1 by a verb, 2 by a work request. */
  readonly type: MemoryWindowType;
  /** The driver's object; for tools. */
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

  /** R_Key of the bind that was posted last. */
  get remoteKey(): number {
    return this.key;
  }

  /** A bind with this key was posted. */
  bound(key: number): void {
    this.key = key;
  }

  protected destroy(): void {
    this.driver.destroy();
  }
}

const variantMask = 2 ** (32 - MEMORY_KEY_INDEX_BITS) - 1;

/** The key with the next low byte, as ibv_inc_rkey gives it: for the next bind of a window of type 2. */
export function nextRemoteKey(key: number): number {
  return ((key & ~variantMask) | ((key + 1) & variantMask)) >>> 0;
}
