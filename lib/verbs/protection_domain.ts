import { wrongRange, wrongType } from '../driver/arguments.ts';
import { AddressHandle as HandleInDevice } from '../driver/address_handle.ts';
import type { AddressVector } from '../driver/address_vector.ts';
import type { Completion } from '../driver/completion.ts';
import { mapForeignMemory } from '../driver/foreign_memory.ts';
import { MemoryRegion as RegionInDevice } from '../driver/memory_region.ts';
import { ProtectionDomain as DomainInDevice } from '../driver/protection_domain.ts';
import { Access, requireRights } from './access.ts';
import { AddressHandle } from './address_handle.ts';
import type { Context } from './context.ts';
import { MemoryRegion } from './memory_region.ts';
import { MemoryWindow } from './memory_window.ts';
import { QueuePair, type QueuePairOptions } from './queue_pair.ts';
import { SharedReceiveQueue, type SharedReceiveQueueOptions } from './shared_receive_queue.ts';
import { VerbsObject } from './verbs_object.ts';

/** A protection domain: its queue pairs can access its memory regions and no others. */
export class ProtectionDomain extends VerbsObject {
  readonly label: string;
  /** The driver's object, for tools. */
  readonly driver: DomainInDevice;
  private readonly context: Context;

  /** {@link Context.createProtectionDomain} makes protection domains. */
  constructor(context: Context, driver: DomainInDevice) {
    super([context]);
    this.context = context;
    this.driver = driver;
    this.label = `protection domain ${driver.number}`;
  }

  /**
   * Allocates zeroed memory and registers it. This works on every device.
   * @param bytes 1 to 2^48
   * @param access of {@link Access}
   * @throws VerbsError ENOMEM; EINVAL: the rights contradict each other; RangeError: bytes
   */
  allocate(bytes: number, access: number = Access.localWrite): MemoryRegion {
    this.requireOpen('registerMemory');
    const { device, management } = this.context.driver;
    requireRights(access);
    checkBytes(bytes);
    const memory = device.allocate(bytes);
    const release = (): void => device.free(memory);
    try {
      const range = { address: memory.address, length: bytes };
      const region = new RegionInDevice(management, this.driver, range, access);
      return new MemoryRegion(this, {
        region,
        address: memory.address,
        bytes: new Uint8Array(memory.buffer, 0, bytes),
        release,
      });
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Registers memory of the caller. The region keeps the memory alive until it is closed, and the memory can no longer be transferred to
   * another thread.
   * @param access of {@link Access}
   * @throws TypeError resizable, detached, empty or shared memory, or that of a WebAssembly.Memory; VerbsError EINVAL: the rights
   * contradict each other; ENOMEM
   */
  registerMemory(memory: ArrayBuffer | ArrayBufferView, access: number = Access.localWrite): MemoryRegion {
    this.requireOpen('registerMemory');
    const { device, management } = this.context.driver;
    requireRights(access);
    const { range, bytes } = mapForeignMemory(device, memory, access);
    const release = (): void => device.board.unmap(range.address);
    try {
      const region = new RegionInDevice(management, this.driver, range, access);
      return new MemoryRegion(this, { region, address: range.address, bytes, release });
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Creates an address handle, the destination of datagrams.
   * @throws VerbsError EINVAL: the port or GID index does not exist; ENOMEM: the device has none left
   */
  createAddressHandle(addressVector: AddressVector): AddressHandle {
    this.requireOpen('createAddressHandle');
    const { management } = this.context.driver;
    return new AddressHandle(this, new HandleInDevice(management, this.driver, addressVector));
  }

  /** Creates an address handle for the sender of a datagram: {@link Context.initAddressVectorFromCompletion}. */
  createAddressHandleFromCompletion(
    port: number,
    completion: Completion,
    globalRoute: Uint8Array,
  ): AddressHandle {
    return this.createAddressHandle(
      this.context.initAddressVectorFromCompletion(port, completion, globalRoute),
    );
  }

  /**
   * Creates a queue pair in RESET. @throws VerbsError EINVAL: a size beyond the device's limit; ENOMEM; EBADF: an object that it needs is
   * closed
   */
  createQueuePair(options: QueuePairOptions): QueuePair {
    return QueuePair.create(this.context, this, options);
  }

  /** Creates an unbound memory window. @throws VerbsError ENOMEM: no key is left; TypeError: the type */
  createMemoryWindow(type: 1 | 2): MemoryWindow {
    this.requireOpen('createMemoryWindow');
    return new MemoryWindow(this.context, this, type);
  }

  /**
   * Creates a receive queue for several queue pairs. @throws VerbsError EINVAL: a size beyond the device's limit; ENOMEM: the device has
   * none left
   */
  createSharedReceiveQueue(options: SharedReceiveQueueOptions = {}): SharedReceiveQueue {
    this.requireOpen('createSharedReceiveQueue');
    return new SharedReceiveQueue(this.context, this, options);
  }

  protected destroy(): void {
    this.driver.destroy();
  }
}

function checkBytes(bytes: number): void {
  if (typeof bytes !== 'number') throw wrongType('bytes', 'a number', bytes);
  if (!Number.isSafeInteger(bytes) || bytes < 1) throw wrongRange('bytes', '1 to 2^48', bytes);
}
