import { ManagementOpcode, encode } from '../spec/index.ts';
import { encodeAddressVector, type AddressVector } from './address_vector.ts';
import type { ManagementQueue } from './management_queue.ts';
import type { ProtectionDomain } from './protection_domain.ts';

/** An address handle in the device: where datagrams go. */
export class AddressHandle {
  /** The number that datagrams name. */
  readonly number: number;
  private readonly management: ManagementQueue;

  /** @throws VerbsError EINVAL: a port or GID index that there is not; ENOMEM: none is left */
  constructor(management: ManagementQueue, protectionDomain: ProtectionDomain, addressVector: AddressVector) {
    this.management = management;
    this.number = management.execute({
      verb: 'createAddressHandle',
      opcode: ManagementOpcode.createAddressHandle,
      inputFormat: 'create_address_handle_input',
      input: [
        encode('create_address_handle_input', {
          protection_domain: protectionDomain.number,
          address_vector: encodeAddressVector(addressVector),
        }),
      ],
    }).number;
  }

  /** Datagrams on their way still arrive. */
  destroy(): void {
    this.management.execute({
      verb: 'destroyAddressHandle',
      opcode: ManagementOpcode.destroyAddressHandle,
      object: this.number,
    });
  }
}
