import type { Output } from '../output/output.ts';
import type { Progress } from '../output/progress.ts';
import { SendingSide, type Posting } from './bandwidth_side.ts';
import { columnsText, type ResultColumn } from './columns.ts';
import { checkAtomics, checkData, fillMemory, type Run } from './data.ts';
import { drive } from './drive.ts';
import { withEnds, type Ends } from './ends.ts';
import { writeHeader } from './header.ts';
import type { PerformanceOptions } from './options.ts';
import { PassiveSide } from './passive_side.ts';
import type { Extent } from './stopwatch.ts';

/** What `hca bw` has beside the options of both commands. */
export interface BandwidthOptions extends PerformanceOptions {
  readonly posting: Omit<Posting, 'extent'>;
  /** Both ends send. */
  readonly bidirectional: boolean;
  /** Gigabits a second instead of MB a second. */
  readonly gigabits: boolean;
  /** No peak is looked for. */
  readonly noPeak: boolean;
  readonly progress: boolean;
}

/** What came of a size; of both directions together where both ends send. */
interface BandwidthResult {
  readonly bytes: number;
  /** Of each end, or all messages of an end where it is run for a time. */
  readonly iterations: number;
  /** Bytes a second; 0 without a peak. */
  readonly peak: number;
  readonly average: number;
  readonly messagesPerSecond: number;
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
 * `hca bw`: how much goes through when many messages are under way, as perftest's ib_*_bw tell it. JSON: {operation, device,
 * bidirectional, results: [BandwidthResult]}.
 */
export async function bandwidth(
  output: Output,
  deviceString: string,
  options: BandwidthOptions,
): Promise<void> {
  const { bidirectional, posting } = options;
  const columns = columnsOf(options.gigabits);
  const results = await withEnds(deviceString, options.ends, async (ends, [context]) => {
    const title = bidirectional ? 'Bidirectional bandwidth' : 'Bandwidth';
    writeHeader(output, title, deviceString, ends, context, options, [
      [' CQ Moderation', `${posting.cqModeration}`],
      ...(posting.postList > 1 ? ([[' Post list', `${posting.postList}`]] as const) : []),
    ]);
    output.text(columnsText(columns));
    const measured: BandwidthResult[] = [];
    const progress = output.progress(options.progress);
    for (const bytes of options.sizes) {
      const result = await measure(ends, bytes, options, progress);
      progress.clear();
      output.text(columnsText(columns, result));
      measured.push(result);
    }
    return measured;
  });
  output.value({ operation: options.ends.operation, device: deviceString, bidirectional, results });
}

async function measure(
  ends: Ends,
  bytes: number,
  options: BandwidthOptions,
  progress: Progress,
): Promise<BandwidthResult> {
  const { operation, atomicType } = options.ends;
  const run: Run = { operation, atomicType, bytes };
  await pass(ends, run, { iterations: options.warmup }, options, progress);
  const senders = await pass(ends, run, options.extent, options, progress);
  const sum = (figure: (sender: SendingSide) => number): number =>
    senders.reduce((total, sender) => total + figure(sender), 0);
  const perSecond = sum(({ rate }) => rate * 1e3);
  return {
    bytes,
    iterations: senders[0]!.messages,
    peak: options.noPeak ? 0 : sum(({ peak }) => peak * 1e3) * bytes,
    average: perSecond * bytes,
    messagesPerSecond: perSecond,
  };
}

/** Messages of a size, from fresh memory to data that was compared. */
async function pass(
  [client, server]: Ends,
  run: Run,
  extent: Extent,
  { posting, bidirectional, check, signal }: BandwidthOptions,
  progress: Progress,
): Promise<readonly SendingSide[]> {
  for (const end of [client, server]) fillMemory(end, run);
  const senders = [client, ...(bidirectional ? [server] : [])].map(
    (end) => new SendingSide(end, run, { ...posting, extent }),
  );
  const count = (): number => senders.reduce((sum, { messages }) => sum + messages, 0);
  await drive(bidirectional ? senders : [...senders, new PassiveSide(server)], {
    messages: count,
    bytesBetween: senders.length * client.queuePairs.length * posting.cqModeration * run.bytes,
    signal,
    progress: (messages) => progress.tell(() => `${run.bytes} B: ${messages} messages`),
  });
  if (!check || count() === 0) return senders;
  for (const [index, sender] of senders.entries()) {
    const [sending, receiving] = index === 0 ? [client, server] : [server, client];
    if (run.operation === 'atomic') checkAtomics(receiving, run, sender.messagesOfEach);
    else checkData(run.operation === 'read' ? sending : receiving, run);
  }
  return senders;
}
