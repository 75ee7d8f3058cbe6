import type { Output } from '../output/output.ts';
import type { Progress } from '../output/progress.ts';
import type { Scope } from '../scope.ts';
import { SendingSide, type Posting } from './bandwidth_side.ts';
import { columnsText, type ResultColumn } from './columns.ts';
import { checkAtomics, checkData, fillMemory, type Run } from './data.ts';
import type { End } from './end.ts';
import { driveEnds, endsHere, connectEnds, type Ends } from './ends.ts';
import { writeHeader } from './header.ts';
import type { PlotFile } from '../plot/plot_file.ts';
import { bandwidthQuantity } from '../plot/run.ts';
import { settingsOf, type PerformanceOptions } from './options.ts';
import { PassiveSide } from './passive_side.ts';
import type { Extent } from './stopwatch.ts';

/** Options of `hca bw` in addition to those of both commands. */
export interface BandwidthOptions extends PerformanceOptions {
  readonly posting: Omit<Posting, 'extent'>;
  /** Both ends send. */
  readonly bidirectional: boolean;
  /** Print gigabits per second instead of MB per second. */
  readonly gigabits: boolean;
  /** Do not measure the peak. */
  readonly noPeak: boolean;
  readonly progress: boolean;
  /** File for a plot of the bandwidth distribution over intervals of a run, one run for each size. */
  readonly plot: PlotFile | undefined;
}

/** Result for one size; the sum of both directions if both ends send. */
interface BandwidthResult {
  readonly bytes: number;
  /** Messages of each end; in a run of a fixed duration, all messages of an end. */
  readonly iterations: number;
  /** Bytes per second; 0 without a peak. */
  readonly peak: number;
  readonly average: number;
  readonly messagesPerSecond: number;
  /** Messages of an unreliable service that found no receive; undefined: the service is reliable, or the other end counts them. */
  readonly lost?: number;
}

const megabyte = 2 ** 20; // as perftest counts

function columnsOf(gigabits: boolean): readonly ResultColumn<BandwidthResult>[] {
  const unit = gigabits ? 'Gb/sec' : 'MB/sec';
  const rate = (bytesPerSecond: number): string =>
    (gigabits ? (bytesPerSecond * 8) / 1e9 : bytesPerSecond / megabyte).toFixed(2);
  return [
    ['#bytes', ({ bytes }) => `${bytes}`],
    ['#iterations', ({ iterations }) => `${iterations}`],
    [`BW peak[${unit}]`, ({ peak }) => rate(peak)],
    [`BW average[${unit}]`, ({ average }) => rate(average)],
    ['MsgRate[Mpps]', ({ messagesPerSecond }) => (messagesPerSecond / 1e6).toFixed(6)],
  ];
}

/**
 * `hca bw`: measures the bandwidth with many outstanding messages, as perftest's ib_*_bw do. JSON: {operation, device,
 * bidirectional, results: [BandwidthResult]}.
 */
export async function bandwidth(
  output: Output,
  deviceString: string,
  options: BandwidthOptions,
  scope: Scope,
): Promise<void> {
  const { bidirectional, posting } = options;
  const columns = columnsOf(options.gigabits);
  const settings = { measured: 'bandwidth', ...settingsOf(options), '--bidirectional': bidirectional };
  const ends = await connectEnds(deviceString, options, settings, scope);
  const title = bidirectional ? 'Bidirectional bandwidth' : 'Bandwidth';
  writeHeader(output, title, ends, options, [
    [' CQ Moderation', `${posting.cqModeration}`],
    ...(posting.postList > 1 ? ([[' Post list', `${posting.postList}`]] as const) : []),
  ]);
  output.text(columnsText(columns));
  const measured: BandwidthResult[] = [];
  const progress = output.progress(options.progress);
  for (const bytes of options.sizes) {
    const { result, stretches } = await measure(ends, bytes, options, progress);
    progress.clear();
    output.text(columnsText(columns, result));
    if (result.lost !== undefined && result.lost > 0) {
      output.warn(
        `${result.lost} messages did not arrive: ${options.ends.type} repeats nothing; --rx-depth gives more room`,
      );
    }
    measured.push(result);
    options.plot?.add(
      `${bytes} B`,
      Float64Array.from(stretches, (rate) => rate * 1e3 * bytes),
    );
  }
  options.plot?.write({
    title: `${title} of ${options.ends.type} ${options.ends.operation} on ${ends.deviceString}`,
    note: 'in stretches of a hundredth of a run, of a send queue at least; of an end that sends',
    quantity: bandwidthQuantity,
  });
  output.value({
    operation: options.ends.operation,
    device: ends.deviceString,
    bidirectional,
    results: measured,
  });
}

async function measure(
  ends: Ends,
  bytes: number,
  options: BandwidthOptions,
  progress: Progress,
): Promise<{ readonly result: BandwidthResult; readonly stretches: readonly number[] }> {
  const { operation, atomicType } = options.ends;
  const run: Run = { operation, atomicType, bytes };
  await pass(ends, run, { iterations: options.warmup }, options, progress);
  const { client, server } = ends;
  const isLossy = operation === 'send' && options.ends.type !== 'RC';
  // The other process counts the messages that it receives.
  const here: readonly [End, End] | undefined = isLossy && client && server ? [client, server] : undefined;
  const before = here && receivedBy(here);
  const senders = await pass(ends, run, options.extent, options, progress);
  const sum = (figure: (sender: Sent) => number): number =>
    senders.reduce((total, sender) => total + figure(sender), 0);
  const perSecond = sum(({ rate }) => rate * 1e3);
  const result = {
    bytes,
    iterations: totalOf(senders[0]!.messages),
    peak: options.noPeak ? 0 : sum(({ peak }) => peak * 1e3) * bytes,
    average: perSecond * bytes,
    messagesPerSecond: perSecond,
    ...(here && { lost: sum(({ messages }) => totalOf(messages)) - (receivedBy(here) - before!) }),
  };
  return { result, stretches: senders[0]!.stretches };
}

/** Messages that came to the ends, those that are still on their way between them too. */
function receivedBy(ends: readonly [End, End]): number {
  const nothing = (): void => {};
  for (let idle = 0; idle < 100; idle++) for (const end of ends) if (end.poll(nothing, nothing)) idle = 0;
  return ends[0].received + ends[1].received;
}

/** Messages that an end has sent: by each queue pair, and per millisecond. */
interface Sent {
  readonly messages: readonly number[];
  readonly rate: number;
  readonly peak: number;
  /** Rates in intervals of a run; the rate of the whole run if it has no complete interval. */
  readonly stretches: readonly number[];
}

function sentBy({ messagesOfEach: messages, rate, peak, stretches }: SendingSide): Sent {
  return { messages, rate, peak, stretches: stretches.length > 0 ? stretches : [rate] };
}

function totalOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Runs messages of one size, from fresh memory to the comparison of the data. Returns the messages of each sending end, the client first. */
async function pass(
  ends: Ends,
  run: Run,
  extent: Extent,
  { posting, bidirectional, check, signal }: BandwidthOptions,
  progress: Progress,
): Promise<readonly Sent[]> {
  const { client, server } = ends;
  const here = endsHere(ends);
  for (const end of here) fillMemory(end, run);
  const sides = here.map((end) =>
    end === client || bidirectional
      ? new SendingSide(end, run, { ...posting, extent })
      : new PassiveSide(end),
  );
  const senders = sides.filter((side) => side instanceof SendingSide);
  const count = (): number => senders.reduce((sum, { messages }) => sum + messages, 0);
  const driving = {
    ...(senders.length > 0 && { messages: count }),
    bytesBetween: senders.length * here[0]!.queuePairs.length * posting.cqModeration * run.bytes,
    signal,
    progress: (messages: number) => progress.tell(() => `${run.bytes} B: ${messages} messages`),
  };
  const told = await driveEnds(ends, sides, driving, () => ({ sent: senders.map(sentBy) }));
  const own = senders.map(sentBy);
  const sent = client === undefined ? [...told!.sent, ...own] : [...own, ...(told?.sent ?? [])];
  if (!check) return sent;
  for (const [index, { messages }] of sent.entries()) {
    const [sending, receiving] = index === 0 ? [client, server] : [server, client];
    if (totalOf(messages) === 0) continue;
    if (run.operation === 'read') {
      if (sending !== undefined) checkData(sending, run);
    } else if (receiving !== undefined) {
      if (run.operation === 'atomic') checkAtomics(receiving, run, messages);
      else checkData(receiving, run);
    }
  }
  return sent;
}
