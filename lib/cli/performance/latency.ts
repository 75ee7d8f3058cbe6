import type { Output } from '../output/output.ts';
import type { Progress } from '../output/progress.ts';
import type { Scope } from '../scope.ts';
import { histogramOf, histogramText, spreadOf, statisticsOf, type Bin } from '../output/statistics.ts';
import { columnsText, type ResultColumn } from './columns.ts';
import { checkAtomics, checkData, fillMemory, type Run } from './data.ts';
import { driveEnds, endsHere, connectEnds, type Ends } from './ends.ts';
import { writeHeader } from './header.ts';
import { answeringSide, isPingPong, measuringSide } from './latency_sides.ts';
import { settingsOf, type PerformanceOptions } from './options.ts';
import type { PlotFile } from '../plot/plot_file.ts';
import { latencyQuantity } from '../plot/run.ts';
import { Stopwatch, type Extent } from './stopwatch.ts';

/** Output options of `hca lat`. */
export interface LatencyReport {
  readonly histogram: boolean;
  /** Print every sample, in the order of measurement. */
  readonly unsorted: boolean;
  readonly progress: boolean;
  /** File for a plot of the distributions, one run for each size. */
  readonly plot: PlotFile | undefined;
}

/** Latencies for one message size, microseconds; half of a round trip if both sides send. */
interface LatencyResult {
  readonly bytes: number;
  readonly iterations: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly typical: number;
  readonly average: number;
  readonly standardDeviation: number;
  readonly percentile99: number;
  readonly percentile999: number;
}

/** The same for a run of a fixed duration, which keeps no samples. */
interface DurationResult {
  readonly bytes: number;
  readonly iterations: number;
  readonly average: number;
  /** Round trips, or answered requests, per second. */
  readonly transactionsPerSecond: number;
}

const iterationColumns: readonly ResultColumn<LatencyResult>[] = [
  ['#bytes', ({ bytes }) => `${bytes}`],
  ['#iterations', ({ iterations }) => `${iterations}`],
  ['t_min[usec]', ({ minimum }) => minimum.toFixed(2)],
  ['t_max[usec]', ({ maximum }) => maximum.toFixed(2)],
  ['t_typical[usec]', ({ typical }) => typical.toFixed(2)],
  ['t_avg[usec]', ({ average }) => average.toFixed(2)],
  ['t_stdev[usec]', ({ standardDeviation }) => standardDeviation.toFixed(2)],
  ['99%', ({ percentile99 }) => percentile99.toFixed(2)],
  ['99.9%', ({ percentile999 }) => percentile999.toFixed(2)],
];
const durationColumns: readonly ResultColumn<DurationResult>[] = [
  ['#bytes', ({ bytes }) => `${bytes}`],
  ['#iterations', ({ iterations }) => `${iterations}`],
  ['t_avg[usec]', ({ average }) => average.toFixed(2)],
  ['tps average', ({ transactionsPerSecond }) => transactionsPerSecond.toFixed(2)],
];

/**
 * `hca lat`: measures the latency of an operation, one message at a time, as perftest's ib_*_lat do. JSON: {operation, device, results:
 * [LatencyResult or DurationResult, with histogram and samples if requested]}.
 */
export async function latency(
  output: Output,
  deviceString: string,
  options: PerformanceOptions,
  report: LatencyReport,
  scope: Scope,
): Promise<void> {
  const { operation } = options.ends;
  const settings = { measured: 'latency', ...settingsOf(options) };
  const ends = await connectEnds(deviceString, options, settings, scope);
  writeHeader(output, 'Latency', ends, options);
  const isTimed = 'seconds' in options.extent;
  output.text(isTimed ? columnsText(durationColumns) : columnsText(iterationColumns));
  const measured: unknown[] = [];
  const progress = output.progress(report.progress);
  for (const bytes of options.sizes) {
    const { result, samples } = await measure(ends, bytes, options, progress);
    progress.clear();
    if ('minimum' in result) output.text(columnsText(iterationColumns, result));
    else output.text(columnsText(durationColumns, result));
    measured.push({ ...result, ...details(output, samples, report) });
    report.plot?.add(`${bytes} B`, samples);
  }
  report.plot?.write({
    title: `Latency of ${options.ends.type} ${operation} on ${ends.deviceString}`,
    note: isPingPong({ operation }) ? 'half of the time there and back' : 'from the request to its answer',
    quantity: latencyQuantity,
  });
  output.value({ operation, device: ends.deviceString, results: measured });
}

interface Measured {
  readonly result: LatencyResult | DurationResult;
  /** Nanoseconds; empty for a run of a fixed duration, and if the other end takes the times. */
  readonly samples: Float64Array;
}

async function measure(
  ends: Ends,
  bytes: number,
  options: PerformanceOptions,
  progress: Progress,
): Promise<Measured> {
  const { operation, atomicType } = options.ends;
  const run: Run = { operation, atomicType, bytes };
  await pass(ends, run, { iterations: options.warmup }, options, progress);
  const stopwatch = await pass(ends, run, options.extent, options, progress);
  if (ends.client === undefined) {
    const { result } = await ends.peer.receive<Pick<Measured, 'result'>>('result');
    return { result, samples: stopwatch.samples.subarray(0, 0) };
  }
  const measured = measuredBy(stopwatch, run, options);
  ends.peer?.say('result', { result: measured.result });
  return measured;
}

function measuredBy(stopwatch: Stopwatch, run: Run, options: PerformanceOptions): Measured {
  const { bytes } = run;
  const trips = isPingPong(run) ? 2 : 1;
  const iterations = stopwatch.laps;
  const average = (stopwatch.elapsed * 1e3) / iterations / trips;
  if (!('iterations' in options.extent)) {
    const transactionsPerSecond = (iterations * 1e3) / stopwatch.elapsed;
    return {
      result: { bytes, iterations, average, transactionsPerSecond },
      samples: stopwatch.samples,
    };
  }
  const samples = stopwatch.samples.map((sample) => sample / trips);
  const { minimum, maximum, median, percentile99, percentile999 } = statisticsOf(samples);
  const microseconds = (nanoseconds: number): number => nanoseconds / 1e3;
  return {
    samples,
    result: {
      bytes,
      iterations,
      minimum: microseconds(minimum),
      maximum: microseconds(maximum),
      typical: microseconds(median),
      average,
      standardDeviation: microseconds(spreadOf(samples)),
      percentile99: microseconds(percentile99),
      percentile999: microseconds(percentile999),
    },
  };
}

/** Runs messages of one size, from fresh memory to the comparison of the data. */
async function pass(
  ends: Ends,
  run: Run,
  extent: Extent,
  { signal, check, events }: PerformanceOptions,
  progress: Progress,
): Promise<Stopwatch> {
  const { client, server } = ends;
  for (const end of endsHere(ends)) fillMemory(end, run);
  const stopwatch = new Stopwatch(extent);
  const sides = [
    ...(server === undefined ? [] : [answeringSide(server, run)]),
    ...(client === undefined ? [] : [measuringSide(client, run, stopwatch)]),
  ];
  const driving = {
    ...(client !== undefined && { messages: () => stopwatch.laps }),
    bytesBetween: 2 * run.bytes,
    ...(events && { sleepAt: endsHere(ends).map(({ completionQueue }) => completionQueue) }),
    signal,
    progress: (messages: number) => progress.tell(() => `${run.bytes} B: ${messages} messages`),
  };
  const told = await driveEnds(ends, sides, driving, () => ({ messages: stopwatch.laps }));
  const messages = client === undefined ? told!.messages : stopwatch.laps;
  if (check && messages > 0) checkRun(ends, run, messages);
  return stopwatch;
}

function checkRun({ client, server }: Ends, run: Run, messages: number): void {
  const countsInLastByte = 1; // RDMA WRITEs count messages there
  const skipped = run.operation === 'write' ? countsInLastByte : 0;
  if (server !== undefined) {
    if (run.operation === 'atomic') checkAtomics(server, run, [messages]);
    else if (isPingPong(run)) checkData(server, run, skipped);
  }
  if (client !== undefined && run.operation !== 'atomic') checkData(client, run, skipped);
}

function details(
  output: Output,
  samples: Float64Array,
  { histogram, unsorted }: LatencyReport,
): { readonly histogram?: readonly Bin[]; readonly samples?: readonly number[] } {
  if (samples.length === 0) return {};
  const bins = histogram ? histogramOf(samples) : undefined;
  if (bins !== undefined) output.bars(histogramText(bins));
  if (unsorted) for (const sample of samples) output.text(`${(sample / 1e3).toFixed(3)}\n`);
  return {
    ...(bins === undefined ? {} : { histogram: bins }),
    ...(unsorted ? { samples: Array.from(samples, (sample) => sample / 1e3) } : {}),
  };
}
