/** A published latency of another adapter, printed beside the figures of `hca doorbell`. */
export interface PublishedLatency {
  readonly what: string;
  readonly microseconds: number;
  readonly source: string;
}

const perftest = 'linux-rdma/perftest issue 131';

/** Latencies of whole operations (half of a round trip over a wire) and of the bus. */
export const publishedLatencies: readonly PublishedLatency[] = [
  { what: 'ConnectX, 64 B write, inline', microseconds: 0.93, source: perftest },
  { what: 'ConnectX, 64 B write, not inline', microseconds: 1.32, source: perftest },
  { what: 'ConnectX, 64 B read', microseconds: 1.91, source: perftest },
  {
    what: 'PCIe gen 3, a round trip to an FPGA',
    microseconds: 0.85,
    source: 'hackingnasdaq.blogspot.com, 2014',
  },
];
