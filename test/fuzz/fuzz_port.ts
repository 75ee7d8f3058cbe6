import { loadTestAddon } from '../helpers/test_addon.ts';

/** The fuzz targets of native/test/fuzz, without libFuzzer. */
export interface FuzzPort {
  fuzzTargets(): string[];
  /** Runs a target on an input; returns an empty text, or the property that the device has broken. */
  runFuzzTarget(name: string, input: Uint8Array): string;
}

export const fuzzPort = loadTestAddon() as FuzzPort;
