import { ManagementOpcode } from '../spec/index.ts';
import type { ManagementQueue } from './management_queue.ts';

/** A protection domain of a function: what its queue pairs may reach with which keys. */
export class ProtectionDomain {
  readonly number: number;
  private readonly management: ManagementQueue;

  /** @throws VerbsError ENOMEM: none is left */
  constructor(management: ManagementQueue) {
    this.management = management;
    this.number = management.execute({
      verb: 'createProtectionDomain',
      opcode: ManagementOpcode.createProtectionDomain,
    }).number;
  }

  /** @throws VerbsError EBUSY: a queue pair is in it */
  destroy(): void {
    this.management.execute({
      verb: 'destroyProtectionDomain',
      opcode: ManagementOpcode.destroyProtectionDomain,
      object: this.number,
    });
  }
}
