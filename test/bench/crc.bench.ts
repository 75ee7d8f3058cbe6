import { table } from '../../lib/cli/output/table.ts';
import { crcImplementations, crcInUse, crcNanoseconds, type CrcKind } from '../helpers/icrc_port.ts';

const lengths = [28, 68, 110, 256, 1024, 4096];
const bytesPerMeasurement = 1 << 24;
const rounds = 7;

const source = new Uint8Array(4096).fill(0x5a);

/** Bytes per nanosecond, the best of several rounds, because disturbances only slow a round down. */
function speed(implementation: number, kind: CrcKind, length: number): number {
  const data = source.subarray(0, length);
  const times = Array.from({ length: rounds }, () =>
    crcNanoseconds(implementation, kind, data, Math.ceil(bytesPerMeasurement / length)),
  );
  return length / Math.min(...times);
}

const implementations = crcImplementations();
const slowest = implementations.length - 1;
const rows = (['icrc', 'vcrc'] as const).flatMap((kind) =>
  lengths.map((length) => {
    const speeds = implementations.map(({ isSupported }, index) =>
      isSupported ? speed(index, kind, length) : undefined,
    );
    return [
      kind,
      String(length),
      ...speeds.map((each) =>
        each === undefined ? '–' : `${each.toFixed(1)} (${(each / speeds[slowest]!).toFixed(1)}×)`,
      ),
    ];
  }),
);
console.log(
  `\nChecks of packets, bytes per nanosecond (against ${implementations[slowest]!.name}); in use: ${crcInUse()}\n${table(
    ['check', 'bytes', ...implementations.map(({ name }) => name)].map((title, index) => ({
      title,
      align: index === 0 ? 'left' : 'right',
    })),
    rows,
  )}`,
);
