import { loadTestAddon } from '../helpers/test_addon.ts';

/** The fuzz targets of native/test/fuzz, without libFuzzer. */
export interface FuzzPort {
  fuzzTargets(): string[];
  /** Runs a target on an input: empty, or which promise of the device was broken. */
  runFuzzTarget(name: string, input: Uint8Array): string;
}

export const fuzzPort = loadTestAddon() as FuzzPort;
