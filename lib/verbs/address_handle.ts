import type { AddressHandle as HandleInDevice } from '../driver/address_handle.ts';
import type { ProtectionDomain } from './protection_domain.ts';
import { VerbsObject } from './verbs_object.ts';

/** An address handle: the destination of datagrams. Every queue pair of its protection domain and port can send to it. */
export class AddressHandle extends VerbsObject {
  readonly label: string;
  /** Number of the handle in the device. */
  readonly number: number;
  private readonly driver: HandleInDevice;

  /** {@link ProtectionDomain.createAddressHandle} makes address handles. */
  constructor(protectionDomain: ProtectionDomain, driver: HandleInDevice) {
    super([protectionDomain]);
    this.driver = driver;
    this.number = driver.number;
    this.label = `address handle ${this.number}`;
  }

  protected destroy(): void {
    this.driver.destroy();
  }
}
