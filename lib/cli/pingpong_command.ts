import { Argument, type Command } from 'commander';

import { usualPort } from './meeting.ts';
import { largestDatagram, largestMessage, mtu, wholeNumber } from './option_values.ts';
import type { Output } from './output/output.ts';
import type { AddCommand } from './performance/commands.ts';
import { pingpong } from './pingpong.ts';
import { pingpongRping } from './pingpong_rping.ts';
import { mostQueuePairs, pingpongShared } from './pingpong_srq.ts';
import type { Scope } from './scope.ts';
import { withCapture } from './two_boards.ts';

const services = ['rc', 'uc', 'ud', 'srq', 'rping'] as const;
type Service = (typeof services)[number];
const serviceTypes = { rc: 'RC', uc: 'UC', ud: 'UD' } as const;
const defaultQueuePairs = 16; // for srq, as in ibv_srq_pingpong

const jsonShape =
  '{local, remote, bytes, iterations, seconds, megabitsPerSecond, microsecondsPerIteration, medianMicroseconds}; for srq local and remote are lists';

interface PingpongWords {
  readonly device?: string;
  readonly json?: boolean;
  readonly ibPort: number;
  readonly listen?: boolean;
  readonly port: number;
  readonly size?: number;
  readonly mtu?: number;
  readonly rxDepth: number;
  readonly numQp?: number;
  readonly iters: number;
  readonly sl: number;
  readonly events?: boolean;
  readonly gidIdx: number;
  readonly chk?: boolean;
  readonly timeout: number;
  readonly capture?: string;
}

/** Adds `hca pingpong`, whose options are named as ibv_rc_pingpong names them. */
export function addPingpongCommand(
  add: AddCommand,
  outputOf: (options: { readonly json?: boolean }) => Output,
  deviceStringOf: (given?: string) => string,
  scope: Scope,
): void {
  add('pingpong', 'exchange messages between two queue pairs', jsonShape, [
    'hca pingpong rc',
    'hca pingpong rc --size 64 --iters 100000',
    'hca pingpong ud --size 1024',
    'hca pingpong srq --num-qp 4',
    'hca pingpong rping --size 64 --chk',
    "hca pingpong rc --device 'emu:?progress=own' --events --chk",
    'hca pingpong rc --iters 10 --capture pingpong.pcapng',
    'hca pingpong rc --listen',
    'hca pingpong rc localhost',
    "hca pingpong rc --listen --device 'emu:?link=udp:127.0.0.1'",
    "hca pingpong rc localhost --device 'emu:?link=udp:127.0.0.2'",
  ])
    .addArgument(
      new Argument(
        '<service>',
        'reliable or unreliable connection, unreliable datagram; reliable connections with a shared receive queue; RDMA READ and WRITE alternately, as rping',
      ).choices(services),
    )
    .argument('[host]', 'host of the other end: hca with --listen, or ibv_rc_pingpong, uc, ud or srq')
    .option('--listen', 'wait for the other end, in another process or on another machine')
    .option('-p, --port <port>', 'TCP port on which the ends meet', wholeNumber(1, 65_535), usualPort)
    .option('-i, --ib-port <port>', 'port', wholeNumber(1), 1)
    .option(
      '-s, --size <bytes>',
      'size of a message (default: 4096; ud: 2048)',
      wholeNumber(1, largestMessage),
    )
    .option('-m, --mtu <bytes>', 'path MTU: 256, 512, 1024, 2048 or 4096 (default: 1024; ud: none)', mtu)
    .option('-r, --rx-depth <receives>', 'receives posted in advance', wholeNumber(1, 16_384), 500)
    .option(
      '-q, --num-qp <queue pairs>',
      `srq: queue pairs on each side (default: ${defaultQueuePairs})`,
      wholeNumber(1, mostQueuePairs),
    )
    .option('-n, --iters <exchanges>', 'number of exchanges', wholeNumber(1), 1000)
    .option('-l, --sl <level>', 'service level', wholeNumber(0, 15), 0)
    .option('-e, --events', 'sleep on completion events instead of polling')
    .option('-g, --gid-idx <index>', 'entry of the GID table', wholeNumber(0, 255), 0)
    .option('-c, --chk', 'compare the received data')
    .option('--timeout <seconds>', 'give up after this time without a message', wholeNumber(1, 86_400), 30)
    .option('--capture <file>', 'write the packets at the local port to a file for Wireshark (pcapng)')
    .action((service: Service, host: string | undefined, words: PingpongWords, command: Command) => {
      const problem = problemOf(service, host, words);
      if (problem !== undefined) command.error(`error: ${problem}`);
      const output = outputOf(words);
      const device = withCapture(deviceStringOf(words.device), words.capture);
      const options = { ...optionsOf(service, host, words), signal: scope.signal };
      if (service === 'rping') return pingpongRping(output, device, options, scope);
      if (service !== 'srq')
        return pingpong(output, device, { ...options, type: serviceTypes[service] }, scope);
      return pingpongShared(output, device, { ...options, queuePairs: queuePairsOf(words) }, scope);
    });
}

const queuePairsOf = ({ numQp = defaultQueuePairs }: PingpongWords): number => numQp;
const sizeOf = (service: Service, { size = service === 'ud' ? 2048 : 4096 }: PingpongWords): number => size;

/** Describes options that contradict the service or each other; undefined: none do. */
function problemOf(service: Service, host: string | undefined, words: PingpongWords): string | undefined {
  if (service === 'rping' && words.events === true)
    return "option '-e, --events' does not apply to rping, which polls.";
  if (service === 'ud' && words.mtu !== undefined)
    return "option '-m, --mtu <bytes>' does not apply to ud: a datagram is one packet.";
  if (service === 'ud' && sizeOf(service, words) > largestDatagram)
    return `a datagram is one packet. Its size must be 1 to ${largestDatagram}.`;
  if (service !== 'srq' && words.numQp !== undefined)
    return `option '-q, --num-qp <queue pairs>' applies to srq only: ${service} uses one queue pair.`;
  if (service === 'srq' && words.rxDepth < queuePairsOf(words))
    return `each queue pair needs a receive. Option --rx-depth must be ${queuePairsOf(words)} or more.`;
  if (host !== undefined && words.listen === true)
    return `give either --listen or the host ${host}, not both.`;
  return undefined;
}

/** The options that all services share. */
function optionsOf(service: Service, host: string | undefined, words: PingpongWords) {
  const { timeout, port } = words;
  const isRemote = host !== undefined || words.listen === true;
  return {
    size: sizeOf(service, words),
    mtu: words.mtu ?? 1024,
    rxDepth: words.rxDepth,
    iters: words.iters,
    port: words.ibPort,
    serviceLevel: words.sl,
    gidIndex: words.gidIdx,
    events: words.events === true,
    check: words.chk === true,
    timeout,
    ...(isRemote && { peer: { ...(host !== undefined && { host }), port, timeout } }),
  };
}
