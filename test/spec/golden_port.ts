import { loadTestAddon } from '../test_addon.ts';

/** native/test/spec_golden_port.h */
interface SpecGolden {
  /** The bytes that the setters make; none for an unknown name. */
  encodeGolden(name: string): Uint8Array;
  /** The first field that the getters read differently, or 'reserved', or 'name' for an unknown name; '' if none. */
  goldenMismatch(name: string, bytes: Uint8Array): string;
}

export const { encodeGolden, goldenMismatch } = loadTestAddon() as SpecGolden;
