import { loadTestAddon } from './test_addon.ts';

export type CrcKind = 'icrc' | 'vcrc';

/** Headers before the BTH, in the order of native/wire/packet_framing.h. */
export const framings = ['ethernet_ipv4', 'ethernet_ipv6', 'infiniband_local', 'infiniband_global'] as const;
export type Framing = (typeof framings)[number];

/** native/test/icrc_port.h */
interface IcrcPort {
  /** The fastest first; implementations are named by their index here. */
  crcImplementations(): { name: string; isSupported: boolean }[];
  crcInUse(): string;
  /** The register after all of data. */
  crcCompute(implementation: number, kind: CrcKind, crc: number, data: Uint8Array): number;
  /** Nanoseconds of one computation, the mean of `rounds`, each of which begins with the last one's register. */
  crcNanoseconds(implementation: number, kind: CrcKind, data: Uint8Array, rounds: number): number;
  icrcOfHeaders(framing: number, headers: Uint8Array): number;
}

const port = loadTestAddon() as IcrcPort;
export const { crcImplementations, crcInUse, crcCompute, crcNanoseconds } = port;

/** The ICRC register after headers, from the LRH or IP header on. */
export function icrcOfHeaders(framing: Framing, headers: Uint8Array): number {
  return port.icrcOfHeaders(framings.indexOf(framing), headers);
}
