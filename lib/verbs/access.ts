import { checkFields } from '../driver/arguments.ts';
import { VerbsError } from '../driver/errors.ts';
import { AccessFlag } from '../spec/index.ts';

/** Rights to a memory region or of a queue pair's peer; several are joined by `|`. The bits are those of ibv_access_flags. */
export const Access = {
  /** The device may write it for its owner: as a receive buffer, or as the place of what a READ or an atomic brings. */
  localWrite: 1 << AccessFlag.localWrite,
  /** RDMA WRITE by the peer; asks for `localWrite`. */
  remoteWrite: 1 << AccessFlag.remoteWrite,
  /** RDMA READ by the peer. */
  remoteRead: 1 << AccessFlag.remoteRead,
  /** Atomics by the peer; asks for `localWrite`. */
  remoteAtomic: 1 << AccessFlag.remoteAtomic,
  /** Memory windows may be bound to the region. */
  memoryWindowBind: 1 << AccessFlag.memoryWindowBind,
  /** Of a memory window of type 2: the peer's addresses begin with 0. */
  zeroBased: 1 << AccessFlag.zeroBased,
} as const;

const remoteChanges = Access.remoteWrite | Access.remoteAtomic;

/**
 * Judges the rights to a memory region as the device does, before memory is looked at: the same mistake is the same error on every
 * device, whatever memory it reaches.
 * @param access of {@link Access}
 * @throws VerbsError EINVAL: rights that contradict each other; TypeError, RangeError: it is no set of rights
 */
export function requireRights(access: number): void {
  checkFields('register_memory_input', { access_flags: access }, () => 'access');
  if ((access & remoteChanges) === 0 || (access & Access.localWrite) !== 0) return;
  throw new VerbsError(
    'access lets the peer change the memory region and not its owner; expected: localWrite beside remoteWrite and remoteAtomic',
    {
      code: 'EINVAL',
      verb: 'registerMemory',
      attribute: 'access',
      expected: 'localWrite beside remoteWrite and remoteAtomic',
    },
  );
}
