import { ManagementOpcode, encode } from '../spec/index.ts';
import { encodeAddressVector, type AddressVector } from './address_vector.ts';
import type { ManagementQueue } from './management_queue.ts';
import type { ProtectionDomain } from './protection_domain.ts';

/** An address handle in the device: the destination of datagrams. */
export class AddressHandle {
  /** Number of the handle in the device. */
  readonly number: number;
  private readonly management: ManagementQueue;

  /** @throws VerbsError EINVAL: the port or GID index does not exist; ENOMEM: the device has none left */
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

  /** Destroys the handle. Datagrams in flight still arrive. */
  destroy(): void {
    this.management.execute({
      verb: 'destroyAddressHandle',
      opcode: ManagementOpcode.destroyAddressHandle,
      object: this.number,
    });
  }
}
