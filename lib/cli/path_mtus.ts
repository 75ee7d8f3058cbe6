import { PathMtu } from '../index.ts';

/** Path MTUs by their bytes. */
export const pathMtus: Readonly<Record<number, PathMtu>> = {
  256: PathMtu.mtu256,
  512: PathMtu.mtu512,
  1024: PathMtu.mtu1024,
  2048: PathMtu.mtu2048,
  4096: PathMtu.mtu4096,
};
