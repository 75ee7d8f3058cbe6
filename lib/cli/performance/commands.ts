import { Argument, Option, type Command } from 'commander';

import { usualPort } from '../meeting.ts';
import { largestMessage, mtu, wholeNumber } from '../option_values.ts';
import type { Output } from '../output/output.ts';
import { bandwidth } from './bandwidth.ts';
import { latency } from './latency.ts';
import { latencyDepth } from './latency_sides.ts';
import { atomicTypes, operations, type Operation } from './operation.ts';
import { OptionsError, largestInline, performanceOptions, type PerformanceWords } from './options.ts';
import type { Scope } from '../scope.ts';
import { PlotFile } from '../plot/plot_file.ts';
import { withCapture } from '../two_boards.ts';

/** Adds a command of one device, with its help. */
export type AddCommand = (
  name: string,
  description: string,
  json: string,
  examples: readonly string[],
) => Command;

interface CommonWords extends PerformanceWords {
  readonly device?: string;
  readonly json?: boolean;
  readonly progress?: boolean;
  readonly capture?: string;
  readonly plot?: string;
}

interface LatencyWords extends CommonWords {
  readonly reportHistogram?: boolean;
  readonly reportUnsorted?: boolean;
}

interface BandwidthWords extends CommonWords {
  readonly txDepth: number;
  readonly qp: number;
  readonly post_list: number;
  readonly cqMod?: number;
  readonly bidirectional?: boolean;
  readonly peak: boolean;
  readonly report_gbits?: boolean;
}

const deepest = 16_384;
const most = 1_000_000_000;
const latencyInline = { send: 236, write: 220, read: 0, atomic: 0 } as const;

const jsonShapes = {
  latency: `{operation, device, results: [{bytes, iterations, minimum, maximum, typical, average, standardDeviation,
  percentile99, percentile999, histogram, samples}]}; microseconds, the histogram's bins in nanoseconds; with --duration:
  {bytes, iterations, average, transactionsPerSecond}`,
  bandwidth: `{operation, device, bidirectional, results: [{bytes, iterations, peak, average, messagesPerSecond}]}; peak and
  average in bytes a second`,
} as const;

/** Adds `hca lat` and `hca bw`, whose options are named as perftest names them. */
export function addPerformanceCommands(
  add: AddCommand,
  outputOf: (options: { readonly json?: boolean }) => Output,
  deviceStringOf: (given?: string) => string,
  scope: Scope,
): void {
  const lat = add('lat', 'measure the latency of an operation, like perftest', jsonShapes.latency, [
    'hca lat send',
    'hca lat write --size 64 --iters 100000',
    'hca lat read --all --chk',
    "hca lat atomic --atomic_type CMP_AND_SWAP --device 'emu:?progress=own'",
    'hca lat send --duration 10 --json',
    'hca lat send --listen',
    'hca lat send localhost',
    'hca lat send --connection UD --all --plot latency.svg',
  ]);
  withCommonOptions(lat, '1000', '2')
    .option('-I, --inline_size <bytes>', 'send messages up to this size inline (send 236, write 220)', inline)
    .option('-e, --events', 'sleep on completion events instead of polling (send, read, atomic)')
    .option('-H, --report-histogram', 'print a histogram of each size')
    .option('-U, --report-unsorted', 'print every sample, in microseconds')
    .action((operation: Operation, host: string | undefined, words: LatencyWords, command: Command) =>
      refusing(command, async () => {
        const defaults = {
          size: 2,
          iterations: 1000,
          inlineBytes: latencyInline[operation],
          queuePairs: 1,
          txDepth: latencyDepth,
        };
        await latency(
          outputOf(words),
          withCapture(deviceStringOf(words.device), words.capture),
          performanceOptions(operation, host, words, defaults, scope.signal),
          {
            histogram: words.reportHistogram === true,
            unsorted: words.reportUnsorted === true,
            progress: words.progress === true,
            plot: plotOf(words, scope),
          },
          scope,
        );
      }),
    );

  const bw = add('bw', 'measure the bandwidth of an operation, like perftest', jsonShapes.bandwidth, [
    'hca bw write',
    'hca bw send --size 64 --iters 100000 --inline_size 64',
    'hca bw write --all --bidirectional --chk',
    'hca bw write --connection UC --plot bandwidth.svg',
    'hca bw read --qp 4 --tx-depth 32 --report_gbits',
    'hca bw atomic --duration 5 --json',
    "hca bw write --listen --device 'emu:?link=udp:127.0.0.1'",
    "hca bw write localhost --device 'emu:?link=udp:127.0.0.2'",
  ]);
  withCommonOptions(bw, '5000; read and atomic: 1000', '65536')
    .option(
      '-t, --tx-depth <requests>',
      'outstanding requests of each queue pair',
      wholeNumber(1, deepest),
      128,
    )
    .option('-q, --qp <number>', 'queue pairs', wholeNumber(1, 1024), 1)
    .option('-b, --bidirectional', 'both ends send; print the sum of both')
    .option('-I, --inline_size <bytes>', 'send messages up to this size inline (0)', inline)
    .option('-l, --post_list <requests>', 'requests posted with one doorbell', wholeNumber(1, deepest), 1)
    .option(
      '-Q, --cq-mod <requests>',
      'signal one in this many requests (100, or --tx-depth)',
      wholeNumber(1, deepest),
    )
    .option(
      '-N, --no-peak',
      'do not compute the peak: the fastest hundredth of a run, at least one send queue',
    )
    .option('--report_gbits', 'print Gbit/s instead of MB/s (2^20 B)')
    .action((operation: Operation, host: string | undefined, words: BandwidthWords, command: Command) =>
      refusing(command, async () => {
        const { txDepth, post_list: postList } = words;
        const brings = operation === 'read' || operation === 'atomic';
        const defaults = {
          size: 65_536,
          iterations: brings ? 1000 : 5000,
          inlineBytes: 0,
          queuePairs: words.qp,
          txDepth,
        };
        const device = withCapture(deviceStringOf(words.device), words.capture);
        const options = {
          ...performanceOptions(operation, host, words, defaults, scope.signal),
          posting: { txDepth, postList, cqModeration: cqModerationOf(words) },
          bidirectional: words.bidirectional === true,
          gigabits: words.report_gbits === true,
          noPeak: !words.peak,
          progress: words.progress === true,
          plot: plotOf(words, scope),
        };
        await bandwidth(outputOf(words), device, options, scope);
      }),
    );
}

function withCommonOptions(command: Command, iterations: string, size: string): Command {
  return command
    .addArgument(new Argument('<operation>', 'RDMA operation').choices(operations))
    .argument('[host]', 'host on which the other end waits with --listen')
    .option('--listen', 'wait for the other end, in another process or on another machine, and answer')
    .option('-p, --port <port>', 'TCP port on which the ends meet', wholeNumber(1, 65_535), usualPort)
    .option('--timeout <seconds>', 'time that the other end may be silent', wholeNumber(1, 86_400), 30)
    .option(
      '-s, --size <bytes>',
      `size of a message (${size}; an atomic has 8)`,
      wholeNumber(1, largestMessage),
    )
    .option('-a, --all', 'all sizes: 2 B to 8 MiB')
    .option('-n, --iters <messages>', `messages on each queue pair (${iterations})`, wholeNumber(1, most))
    .option(
      '-D, --duration <seconds>',
      'run for this time instead of a number of messages',
      wholeNumber(1, 86_400),
    )
    .option('--warmup <messages>', 'unmeasured messages of each size before', wholeNumber(0, most), 100)
    .addOption(
      new Option('-c, --connection <type>', 'reliable or unreliable connection, unreliable datagram')
        .choices(['RC', 'UC', 'UD'])
        .default('RC'),
    )
    .option('-m, --mtu <bytes>', 'path MTU: 256, 512, 1024, 2048 or 4096', mtu, 1024)
    .option('-r, --rx-depth <receives>', 'receives posted in advance (send)', wholeNumber(1, deepest), 512)
    .option('--end-to-end-credits', 'send only as the other end posts receives (send, RC)')
    .option('-o, --outs <requests>', 'READs and atomics outstanding', wholeNumber(1, 16), 16)
    .addOption(
      new Option('-A, --atomic_type <type>', 'atomic operation')
        .choices(atomicTypes)
        .default('FETCH_AND_ADD'),
    )
    .option('-i, --ib-port <port>', 'port', wholeNumber(1), 1)
    .option('-x, --gid-index <index>', 'entry of the GID table', wholeNumber(0, 255), 0)
    .option('-S, --sl <level>', 'service level', wholeNumber(0, 15), 0)
    .option('-u, --qp-timeout <exponent>', 'local ACK timeout, 4.096 us x 2^exponent', wholeNumber(0, 31), 14)
    .option('-F, --CPU-freq', 'accepted and ignored: no result depends on the CPU frequency')
    .option('--chk', 'compare the received data')
    .option('--capture <file>', 'write the packets at the local port to a file for Wireshark (pcapng)')
    .option('--plot <file>', 'draw the distributions, one run for each size (SVG)')
    .option('--progress', 'print the progress every second, also if standard error is not a terminal');
}

function plotOf({ plot, duration }: CommonWords, scope: Scope): PlotFile | undefined {
  if (plot !== undefined && duration !== undefined) {
    throw new OptionsError('a run with --duration keeps no samples to draw: leave out --plot or --duration');
  }
  return plot === undefined ? undefined : new PlotFile(plot, scope);
}

function inline(text: string): number {
  return wholeNumber(0, largestInline)(text);
}

/** Work requests per signaled one: a posted list must fit behind the unsignaled ones. @throws OptionsError it does not */
function cqModerationOf({ cqMod, txDepth, post_list: postList }: BandwidthWords): number {
  const byDefault = 100;
  const room = txDepth - postList + 1;
  if (room < 1) {
    throw new OptionsError(`--post_list is ${postList}, but must be at most --tx-depth, ${txDepth}`);
  }
  if (cqMod !== undefined && cqMod > room) {
    throw new OptionsError(
      `--cq-mod is ${cqMod}, but must be at most ${room}: this many fit before --post_list ${postList} in --tx-depth ${txDepth}`,
    );
  }
  return cqMod ?? Math.min(byDefault, room);
}

/** Reports options that exclude each other as wrong usage. */
async function refusing(command: Command, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof OptionsError) command.error(error.message, { exitCode: 2 });
    throw error;
  }
}
