import { ManagementOpcode, encode } from '../spec/index.ts';
import type { ManagementQueue } from './management_queue.ts';
import type { ProtectionDomain } from './protection_domain.ts';

/** Type 1 is bound by a verb, and again; type 2 by work requests, and taken back by others. */
export type MemoryWindowType = 1 | 2;

/** A memory window of a function: a key that work requests bind to a part of a memory region. */
export class MemoryWindow {
  /** R_Key as it was made: its index stays, its variant changes with what it is bound to. */
  readonly key: number;
  private readonly management: ManagementQueue;

  /** @throws VerbsError EINVAL: the type; ENOMEM: no key is left */
  constructor(management: ManagementQueue, protectionDomain: ProtectionDomain, type: MemoryWindowType) {
    this.management = management;
    this.key = management.execute({
      verb: 'createMemoryWindow',
      opcode: ManagementOpcode.createMemoryWindow,
      inputFormat: 'create_memory_window_input',
      input: [
        encode('create_memory_window_input', {
          window_type: type,
          protection_domain: protectionDomain.number,
        }),
      ],
    }).number;
  }

  /** Takes the window back, bound or not. It answers when no access with its key is in flight any more. */
  destroy(): void {
    this.management.execute({
      verb: 'destroyMemoryWindow',
      opcode: ManagementOpcode.destroyMemoryWindow,
      object: this.key,
    });
  }
}
