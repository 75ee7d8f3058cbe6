import {
  Access,
  CompletionStatus,
  Opcode,
  RemoteMemory,
  completionStatusNames,
  nextRemoteKey,
  type Completion,
  type MemoryRegion,
  type MemoryWindow,
  type ProtectionDomain,
  type QueuePair,
} from '../../lib/index.ts';
import type { Random } from '../helpers/random.mjs';
import { require } from './party.ts';

/** The first wrId of window work requests, beyond those of all messages. */
const firstId = 2 ** 24;
const access = Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;

/**
 * A memory window over all the memory that a flow accesses. The receiving queue pair binds and invalidates
 * it; the flow itself may also invalidate one of type 2.
 */
export class FlowWindow {
  private readonly random: Random;
  private readonly protectionDomain: ProtectionDomain;
  private readonly region: MemoryRegion;
  private window: MemoryWindow | undefined;
  private state: 'none' | 'binding' | 'open' | 'closing' | 'closed' | 'given back' = 'none';

  constructor(random: Random, protectionDomain: ProtectionDomain, region: MemoryRegion) {
    this.random = random;
    this.protectionDomain = protectionDomain;
    this.region = region;
  }

  /** The memory through the window; undefined: it is not bound. */
  get remote(): RemoteMemory | undefined {
    return this.state === 'open' ? this.reached() : undefined;
  }

  /** The memory through the former window: no access may succeed any more. */
  get formerRemote(): RemoteMemory | undefined {
    return this.state === 'closed' ? this.reached() : undefined;
  }

  /** The key that the next SEND with invalidate may name; undefined: there is none. */
  takeKey(): number | undefined {
    if (this.state !== 'open' || this.window!.type !== 2) return undefined;
    this.state = 'given back';
    return this.window!.remoteKey;
  }

  /**
   * Performs one operation on the window, or none.
   * @param owner of the memory
   * @param isQuiet nothing in flight accesses the window
   */
  act(owner: QueuePair, isQuiet: boolean): void {
    const { random } = this;
    if (!random.once(6)) return;
    if (this.state === 'none') {
      this.window = this.protectionDomain.createMemoryWindow(random.once(2) ? 1 : 2);
      this.bind(owner, this.window);
    } else if (isQuiet && this.state === 'open') this.takeBack(owner, this.window!);
    else if (isQuiet && (this.state === 'closed' || this.state === 'given back')) this.restart();
  }

  /** Consumes a completion of a window work request; false: it is none. */
  take({ wrId, status, workQueue }: Completion, isExcused: boolean): boolean {
    if (workQueue !== 0 || wrId < firstId) return false;
    require(isExcused || status === CompletionStatus.success, () =>
      `a memory window is ${this.state}: ${completionStatusNames[status]}`);
    if (status === CompletionStatus.success) this.state = this.state === 'binding' ? 'open' : 'closed';
    return true;
  }

  /** The window no longer exists. */
  restart(): void {
    this.window?.close();
    this.window = undefined;
    this.state = 'none';
  }

  private reached(): RemoteMemory {
    const { address, length } = this.region;
    return new RemoteMemory({ address, key: this.window!.remoteKey, length });
  }

  private bind(owner: QueuePair, window: MemoryWindow): void {
    const memory = this.region.slice();
    const request = { wrId: firstId, signaled: true };
    if (window.type === 1) owner.bindMemoryWindow(window, { ...request, memory, access });
    else {
      const key = nextRemoteKey(window.remoteKey);
      owner.postSend({ ...request, opcode: Opcode.bindMemoryWindow, bind: { key, memory, access } });
      window.bound(key);
    }
    this.state = 'binding';
  }

  private takeBack(owner: QueuePair, window: MemoryWindow): void {
    if (window.type !== 2) return;
    const request = { wrId: firstId, signaled: true, opcode: Opcode.localInvalidate } as const;
    owner.postSend({ ...request, invalidateKey: window.remoteKey });
    this.state = 'closing';
  }
}
