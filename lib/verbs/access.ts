import { checkFields } from '../driver/arguments.ts';
import { VerbsError } from '../driver/errors.ts';
import { AccessFlag } from '../spec/index.ts';

/** Rights to a memory region, or of the peer of a queue pair. Join several with `|`. The bits are those of ibv_access_flags. */
export const Access = {
  /** The device may write the memory for its owner: as a receive buffer, or as the destination of a READ or an atomic. */
  localWrite: 1 << AccessFlag.localWrite,
  /** RDMA WRITE by the peer; requires `localWrite`. */
  remoteWrite: 1 << AccessFlag.remoteWrite,
  /** RDMA READ by the peer. */
  remoteRead: 1 << AccessFlag.remoteRead,
  /** Atomics by the peer; requires `localWrite`. */
  remoteAtomic: 1 << AccessFlag.remoteAtomic,
  /** Memory windows may be bound to this region. */
  memoryWindowBind: 1 << AccessFlag.memoryWindowBind,
  /** For a memory window of type 2: the peer's addresses start at 0. */
  zeroBased: 1 << AccessFlag.zeroBased,
} as const;

const remoteChanges = Access.remoteWrite | Access.remoteAtomic;

/**
 * Checks the rights to a memory region as the device does, before the memory is touched. The same mistake gives the same error on every
 * device.
 * @param access of {@link Access}
 * @throws VerbsError EINVAL: the rights contradict each other; TypeError, RangeError: not a set of rights
 */
export function requireRights(access: number): void {
  checkFields('register_memory_input', { access_flags: access }, () => 'access');
  if ((access & remoteChanges) === 0 || (access & Access.localWrite) !== 0) return;
  throw new VerbsError(
    'access grants remote write without local write; expected: localWrite with remoteWrite and remoteAtomic',
    {
      code: 'EINVAL',
      verb: 'registerMemory',
      attribute: 'access',
      expected: 'localWrite with remoteWrite and remoteAtomic',
    },
  );
}
