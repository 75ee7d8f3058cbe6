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
