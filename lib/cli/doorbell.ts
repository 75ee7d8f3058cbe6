import { formatDeviceString, loadRtlAddon, parseDeviceString, type RtlCounters } from '../board/index.ts';
import { openDevice, type DeviceInfo } from '../index.ts';
import { clockWarnings } from './clock_stability.ts';
import { refuseForbiddenCpu } from './cpus.ts';
import { measureFences, ratePayloadBytes, type FenceRate } from './doorbell_rate.ts';
import { publishedLatencies } from './other_adapters.ts';
import { measure, parts, type Measurement, type MeasurementOptions } from './doorbell_measurement.ts';
import type { Output } from './output/output.ts';
import { histogramText, type Statistics } from './output/statistics.ts';
import { table } from './output/table.ts';
import { SamplesFile } from './samples_file.ts';
import { PlotFile } from './plot/plot_file.ts';
import { latencyQuantity } from './plot/run.ts';
import type { Scope } from './scope.ts';
import { refuseVirtualTime } from './virtual_time.ts';

/** Options of `hca doorbell`. */
export interface DoorbellOptions extends MeasurementOptions {
  /** Payload bytes; undefined: all of {@link sizes}. */
  readonly size: number | undefined;
  /** CSV file for every sample. */
  readonly samples: string | undefined;
  /** SVG file for a plot of the distribution of the headline. */
  readonly plot: string | undefined;
}

/** Measured payloads, bytes. */
export const sizes = [0, 32, 64, 96, 128, 256] as const;

/**
 * `hca doorbell`: measures the latency of a doorbell in parts, and the floor beside it. JSON: {device, info, warnings, measurements,
 * fences, published}, on rtl: boards also {rtl}, their clock cycles.
 */
export async function doorbell(
  output: Output,
  deviceString: string,
  options: DoorbellOptions,
  scope: Scope,
): Promise<void> {
  const { deviceName, deviceCpu } = withDeviceCpu(deviceString, options.deviceCpu);
  refuseForbiddenCpu('--cpu', options.cpu);
  refuseForbiddenCpu('--device-cpu', deviceCpu);
  const pinned = { ...options, deviceCpu };
  const device = openDevice(deviceName);
  try {
    const info = device.queryDevice();
    refuseVirtualTime('doorbell', info.board);
    const file = options.samples === undefined ? undefined : new SamplesFile(options.samples);
    const plot = options.plot === undefined ? undefined : new PlotFile(options.plot, scope);
    try {
      const warnings = warningsOf(pinned);
      for (const warning of warnings) output.warn(warning);
      output.text(heading(deviceName, info, options));
      const measurements: Measurement[] = [];
      for (const payloadBytes of options.size === undefined ? sizes : [options.size]) {
        const { measurement, samples } = await measure(device, payloadBytes, pinned);
        measurements.push(measurement);
        output.bars(measurementText(measurement, info));
        file?.add(payloadBytes, samples);
        plot?.add(`${payloadBytes} B`, samples.lastStoreToRecord);
      }
      output.table(summary(measurements, info));
      plot?.write({
        title: `Doorbell latency, last store to record seen, on ${deviceName}`,
        note: `${options.iterations} posts of each payload, one at a time; progress ${info.board.progress}, clock ${info.board.clock}`,
        quantity: latencyQuantity,
      });
      const isRtl = parseDeviceString(deviceName).backend === 'rtl';
      const rtl = isRtl ? loadRtlAddon()?.rtlCounters() : undefined;
      if (rtl !== undefined) output.text(rtlText(rtl));
      const fences = await measureFences(device, options);
      output.table(fencesText(fences, info));
      output.table(publishedText());
      output.value({
        device: deviceName,
        info,
        warnings,
        measurements,
        fences,
        published: publishedLatencies,
        rtl,
      });
    } finally {
      file?.close();
    }
  } finally {
    device.close();
  }
}

/** The device thread of an emulated board is pinned at creation: by the option, or by the device string. */
function withDeviceCpu(
  deviceString: string,
  given: number | undefined,
): { readonly deviceName: string; readonly deviceCpu: number | undefined } {
  const name = parseDeviceString(deviceString);
  if (name.backend !== 'emu') return { deviceName: deviceString, deviceCpu: given };
  const deviceCpu = given ?? name.options.deviceCpu;
  if (deviceCpu === undefined) return { deviceName: deviceString, deviceCpu };
  return { deviceName: formatDeviceString({ ...name, options: { ...name.options, deviceCpu } }), deviceCpu };
}

function warningsOf({ cpu, deviceCpu }: DoorbellOptions): string[] {
  const notPinned = [
    ...(cpu === undefined ? ['the posting thread (--cpu)'] : []),
    ...(deviceCpu === undefined ? ['the device thread (--device-cpu)'] : []),
  ];
  return [
    ...(notPinned.length > 0 ? [`not pinned to a CPU: ${notPinned.join(' and ')}; figures vary more`] : []),
    ...clockWarnings(),
  ];
}

function heading(deviceName: string, { board }: DeviceInfo, { iterations }: DoorbellOptions): string {
  return [
    `Doorbell latency on ${deviceName}, nanoseconds:`,
    `${iterations} stamped posts of each payload, one at a time`,
    `progress ${board.progress}; clock: ${board.clock}`,
    ...(board.progress === 'shared'
      ? ['The device works on the posting thread: parts marked * are computation, not', 'latency.']
      : [
          'Records are waited for by the paced poller, which looks first when most have',
          'come; in turns with it another looks all the time.',
        ]),
    '',
    '',
  ].join('\n');
}

function cells({ minimum, median, percentile99, percentile999, maximum }: Statistics): string[] {
  return [minimum, median, percentile99, percentile999, maximum].map((value) => value.toFixed(0));
}

const statisticColumns = ['min', 'median', '99%', '99.9%', 'max'].map(
  (title) => ({ title, align: 'right' }) as const,
);

function measurementText(measurement: Measurement, { board }: DeviceInfo): string {
  const {
    payloadBytes,
    histogram,
    completionHistogram,
    lastStoreToRecordUnpaced: unpaced,
    clockUncertainty,
    stampedPost,
    unstampedPost,
    stamp,
    floor,
  } = measurement;
  const rows = parts.map(({ letter, name, text, ofDevice }) => [
    `(${letter}) ${text}${ofDevice && board.progress === 'shared' ? ' *' : ''}`,
    ...cells(measurement.parts[name]),
  ]);
  return [
    table(
      [{ title: `payload ${payloadBytes} B` }, ...statisticColumns],
      [
        ...rows,
        ...(unpaced === undefined ? [] : [['    (g), never pausing', ...cells(unpaced)]]),
        ...(floor === undefined ? [] : [['    floor: cache-line round trip', ...cells(floor)]]),
      ],
    ),
    `    (c) and (e) come from the device clock: ± ${clockUncertainty.toFixed(0)} ns. A whole post takes\n`,
    `    ${stampedPost.toFixed(0)} ns with stamps, ${unstampedPost.toFixed(0)} ns without; a stamp takes ${stamp.toFixed(1)} ns.\n`,
    `    (f):\n${histogramText(completionHistogram)}`,
    `    (g):\n${histogramText(histogram)}\n`,
  ].join('');
}

/** The main medians, with the floor if the doorbell crosses between CPUs as the floor does. */
function summary(measurements: readonly Measurement[], { board }: DeviceInfo): string {
  const crosses = measurements.some(({ floor }) => floor !== undefined);
  const rows = measurements.map(
    ({ payloadBytes, parts: { lastStoreToRecord, postToCompletion }, floor, ratio }) => [
      `${payloadBytes}`,
      lastStoreToRecord.median.toFixed(0),
      postToCompletion.median.toFixed(0),
      ...(floor === undefined
        ? []
        : [floor.median.toFixed(0), ratio!.toFixed(2), (postToCompletion.median / floor.median).toFixed(2)]),
    ],
  );
  const columns = [
    'payload B',
    'headline (g)',
    'completion (f)',
    ...(crosses ? ['floor', 'headline / floor', '(f) / floor'] : []),
  ];
  const note =
    board.progress === 'shared'
      ? 'In shared progress nothing crosses between CPUs: headline and completion are the\nwork of the device itself, and no floor is beside them.\n'
      : '';
  return `${table(
    columns.map((title) => ({ title, align: 'right' })),
    rows,
  )}${note}Commands are RDMA WRITEs from a queue pair to itself, so that (f) holds the way\nthrough the port and back.\n`;
}

/** The benefit of the scoreboard: the fences that a post does not need. */
function fencesText(fences: readonly FenceRate[], { board }: DeviceInfo): string {
  const rows = fences.map(({ commandsPerFence, storedPerSecond, completedPerSecond }, index) => [
    index === fences.length - 1
      ? `none until a page is used again (${commandsPerFence})`
      : `${commandsPerFence}`,
    (storedPerSecond / 1e6).toFixed(2),
    (completedPerSecond / 1e6).toFixed(2),
  ]);
  const note =
    board.progress === 'shared'
      ? 'In shared progress the device runs on this thread, at one of sixteen fences.\n'
      : '';
  return `\n${table(
    [
      { title: 'commands for each fence' },
      ...['stored, million/s', 'completed, million/s'].map((title) => ({ title, align: 'right' }) as const),
    ],
    rows,
  )}Commands of ${ratePayloadBytes} B of payload, to virtual collect buffers in turn. The scoreboard\ntakes the writes of a page in any order: commands need no fence between them.\n${note}`;
}

/** Published latencies of other adapters. */
function publishedText(): string {
  return `\n${table(
    [{ title: 'elsewhere' }, { title: 'µs', align: 'right' }, { title: 'published in' }],
    publishedLatencies.map(({ what, microseconds, source }) => [what, microseconds.toFixed(2), source]),
  )}Adapters: half of a round trip between two hosts, wire included.\n`;
}

/** Clock cycles of the blocks in RTL, one line each. */
function rtlText(counters: RtlCounters): string {
  const { collectBufferClocks, commandsCollected, kickClocks, leastKickClocks, mostKickClocks } = counters;
  const { clocks, commandsStarted, startClocks, leastStartClocks, mostStartClocks } = counters;
  return (
    blockText('collect_buffer', collectBufferClocks, 'a first write to its kick', [
      commandsCollected,
      kickClocks,
      leastKickClocks,
      mostKickClocks,
    ]) +
    blockText('virtual_kick', clocks, 'a kick to its start', [
      commandsStarted,
      startClocks,
      leastStartClocks,
      mostStartClocks,
    ])
  );
}

function blockText(
  block: string,
  clocks: number,
  way: string,
  [commands, sum, least, most]: readonly [number, ...(number | undefined)[]],
): string {
  if (sum === undefined) return `${block} in RTL: ${clocks} clock cycles, no commands.\n`;
  return (
    `${block} in RTL: ${clocks} clock cycles; from ${way} ${least} at least, ` +
    `${(sum / commands).toFixed(1)} on average, ${most} at most, of ${commands} commands.\n`
  );
}
