import { loadTestAddon } from '../helpers/test_addon.ts';

/** native/test/secded_port.h */
interface Secded {
  /** The check bits of 64 data bits. */
  secdedEncode(data: bigint): number;
  secdedDecode(data: bigint, check: number): { status: string; data: bigint };
}

export const { secdedEncode, secdedDecode } = loadTestAddon() as Secded;
