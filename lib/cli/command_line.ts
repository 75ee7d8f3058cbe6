import { Argument, Option, type Command } from 'commander';

import { chosenDeviceString, formatDeviceString, parseDeviceString } from '../board/index.ts';
import { VerbsError } from '../index.ts';
import { build } from './build.ts';
import { demo } from './demo.ts';
import { doorbell } from './doorbell.ts';
import { info } from './info.ts';
import { list } from './list.ts';
import { mtu, wholeNumber } from './option_values.ts';
import { Output, type Streams } from './output/output.ts';
import { addPerformanceCommands } from './performance/commands.ts';
import { pingpong } from './pingpong.ts';
import { usualPort } from './meeting.ts';
import { pingpongRping } from './pingpong_rping.ts';
import { mostQueuePairs, pingpongShared } from './pingpong_srq.ts';
import { registers } from './registers.ts';
import { execute, oneLine } from './program.ts';
import { addRunCommand } from './run_command.ts';
import { serve } from './serve.ts';
import { addObservationCommands } from './observe/commands.ts';
import type { Scope } from './scope.ts';
import { selftest } from './selftest/selftest.ts';
import { setup } from './setup.ts';
import { withCapture } from './two_boards.ts';

interface CommonOptions {
  readonly device?: string;
  readonly json?: boolean;
}

const largestPayload = 256;
const largestDatagram = 4096;
const mebibyte = 2 ** 20;
const largestMessage = 2 ** 30; // both ends' memory is in one process

const serviceTypes = { rc: 'RC', uc: 'UC', ud: 'UD' } as const;

/** The output of --json, for the help of each command. Whole numbers beyond 2^53 are strings. */
const jsonShapes = {
  info: '{device, underlyingFunction, identity, limits, board, regions, ports}; sizes in bytes, frequencies in hertz',
  registers:
    '[{block, register, offset, unit, values, fields}]; values and fields have one element for each element of the register',
  selftest: '{device, passed, steps: [{name, passed, detail, advice}]}; steps after a failed one are omitted',
  demo: '{checks: [{name, bytes}], figures: [{size, microseconds, messagesPerSecond, bytesPerSecond, doorbellNanoseconds}]}',
  serve: `a line {served, functions: [first, last]}, then a line for what each client does: {kind: opened|closed|refused,
  underlyingFunction, process, reason}`,
  build: '{files}: the paths of what was built',
  pingpong:
    '{local, remote, bytes, iterations, seconds, megabitsPerSecond, microsecondsPerIteration, medianMicroseconds}; for srq local and remote are lists',
  doorbell: `{device, info, warnings, measurements: [{payloadBytes, parts, histogram: [{from, to, count}],
  completionHistogram, lastStoreToRecordUnpaced, floor, ratio, stampedPost, unstampedPost, stamp, clockUncertainty}],
  fences: [{commandsPerFence, storedPerSecond, completedPerSecond}], published: [{what, microseconds, source}]}; nanoseconds;
  each of parts, lastStoreToRecordUnpaced and floor: {samples, minimum, median, percentile99, percentile999, maximum}; these
  two and ratio not in shared progress`,
} as const;

/**
 * The command `hca`.
 * @param words what stands behind `hca`
 * @param signal ends commands: those that watch with success, others as a failure
 * @returns an {@link ExitCode}; of `run` that of the program
 */
export function runCommandLine(
  words: readonly string[],
  streams: Streams,
  signal: AbortSignal,
): Promise<number> {
  return execute(words, streams, signal, (program, scope) => addCommands(program, streams, scope));
}

function addCommands(program: Command, streams: Streams, scope: Scope): void {
  const { signal } = scope;
  const add = (name: string, description: string, json: string, examples: readonly string[]): Command =>
    program
      .command(name)
      .description(description)
      .configureOutput({ outputError: (text, write) => write(oneLine(text, `hca ${name} --help`)) })
      .option('--json', 'JSON instead of text')
      .addHelpText(
        'after',
        `\nJSON: ${json}\n\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`,
      );
  const addOfDevice: typeof add = (...words) => add(...words).option('--device <device>', 'device string');
  const outputOf = ({ json = false }: CommonOptions): Output => new Output(streams, json);

  add('list', 'list devices', '[{device, backend, description, obstacles}]', [
    'hca list',
    'hca list --json',
  ]).action((options: CommonOptions) => list(outputOf(options)));
  add(
    'setup',
    'list obstacles to boards on PCIe, and the commands that remove them',
    '[{device, identification, obstacles: [{code, problem, cure, blocks}], commands, applied}]',
    [
      'hca setup',
      'hca setup vfio:0000:01:00.0',
      'sudo hca setup vfio:0000:01:00.0 --owner alice --apply',
      'sudo hca setup vfio:0000:01:00.0 --release --apply',
    ],
  )
    .argument('[devices...]', 'pci:DDDD:BB:DD.F or vfio:DDDD:BB:DD.F; other functions are not changed')
    .option('--apply', 'run the commands')
    .option('--release', 'return the functions to the kernel driver')
    .option('--owner <user>', 'user who gets the group of vfio:')
    .action(
      (devices: string[], options: CommonOptions & { apply?: boolean; release?: boolean; owner?: string }) =>
        setup(outputOf(options), {
          devices,
          apply: options.apply === true,
          release: options.release === true,
          owner: options.owner,
        }),
    );
  addOfDevice('info', 'who a device is, and how it is reached', jsonShapes.info, [
    'hca info',
    "hca info -v --device 'emu:?progress=own'",
  ])
    .option('-v, --verbose', 'also sizes, ports and regions, as ibv_devinfo -v prints them')
    .action((options: CommonOptions & { verbose?: boolean }) =>
      info(outputOf(options), chosenDeviceString(options.device), options.verbose === true),
    );
  addOfDevice('registers', 'read registers by name, decoded, or write them', jsonShapes.registers, [
    'hca registers',
    'hca registers identity',
    'hca registers underlying_function.status kicks --json',
    'hca registers underlying_function --uf 3',
    'hca registers control.half_written_limit=0 --write',
  ])
    .argument(
      '[names...]',
      'blocks (identity, underlying_function, control), registers, or block.register; NAME=VALUE or NAME[ELEMENT]=VALUE writes one',
    )
    .option('--write', 'write registers, which can stop the device for all its users')
    .option('--uf <number>', 'underlying function, instead of the one of the device string', wholeNumber(0))
    .action((names: string[], options: CommonOptions & { uf?: number; write?: boolean }) =>
      registers(outputOf(options), ofFunction(chosenDeviceString(options.device), options.uf), names, {
        write: options.write === true,
      }),
    );
  addOfDevice('doorbell', 'measure the latency of a doorbell in parts', jsonShapes.doorbell, [
    'hca doorbell',
    "hca doorbell --device 'emu:?progress=own' --cpu 0 --device-cpu 1 --size 64",
    'hca doorbell --iterations 100000 --samples doorbell.csv --plot doorbell.svg',
  ])
    .option('--iterations <posts>', 'stamped posts of each payload', wholeNumber(1), 10_000)
    .option('--warmup <posts>', 'unmeasured posts before', wholeNumber(0), 1000)
    .option('--cpu <number>', 'CPU of the posting thread', wholeNumber(0))
    .option('--device-cpu <number>', 'CPU of the device thread', wholeNumber(0))
    .addOption(
      new Option('--size <bytes>', 'one payload instead of 0 to 256 B').argParser(
        wholeNumber(0, largestPayload),
      ),
    )
    .option('--samples <file>', 'write every sample to a CSV file')
    .option('--plot <file>', 'draw the distribution of the headline, one run for each payload (SVG)')
    .action(
      (
        options: CommonOptions & {
          iterations: number;
          warmup: number;
          cpu?: number;
          deviceCpu?: number;
          size?: number;
          samples?: string;
          plot?: string;
        },
      ) =>
        doorbell(
          outputOf(options),
          chosenDeviceString(options.device),
          {
            iterations: options.iterations,
            warmup: options.warmup,
            cpu: options.cpu,
            deviceCpu: options.deviceCpu,
            size: options.size,
            samples: options.samples,
            plot: options.plot,
            signal,
          },
          scope,
        ),
    );
  addOfDevice('serve', 'hold a board of which other processes open functions', jsonShapes.serve, [
    'hca serve lab',
    "hca serve /run/user/1000/lab --device 'emu:?progress=own'",
    'hca pingpong rc --listen --device serve:lab/1',
  ])
    .argument('[name]', 'name of the board, or path of its socket, with a slash', 'board')
    .option('--memory <MiB>', 'memory limit of each process', wholeNumber(1), 4096)
    .action((name: string, options: CommonOptions & { memory: number }) =>
      serve(outputOf(options), chosenDeviceString(options.device), {
        path: name,
        memory: options.memory * mebibyte,
        signal,
      }),
    );
  addRunCommand(program);
  add('build', 'build the native code of an installed package from its sources', jsonShapes.build, [
    'npx hca build',
  ]).action((options: CommonOptions) => build(outputOf(options), scope));
  add('demo', 'connect two emulated boards, check every operation, and measure', jsonShapes.demo, [
    'hca demo',
    'hca demo --json',
    'hca demo --capture demo.pcapng',
  ])
    .option('--capture <file>', 'write the packets of the checks to a file for Wireshark (pcapng)')
    .action((options: CommonOptions & { capture?: string }) =>
      demo(outputOf(options), options.capture, signal),
    );
  addOfDevice('pingpong', 'send messages to and fro between two queue pairs', jsonShapes.pingpong, [
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
      ).choices(['rc', 'uc', 'ud', 'srq', 'rping']),
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
      'srq: queue pairs on each side (default: 16)',
      wholeNumber(1, mostQueuePairs),
    )
    .option('-n, --iters <exchanges>', 'number of exchanges', wholeNumber(1), 1000)
    .option('-l, --sl <level>', 'service level', wholeNumber(0, 15), 0)
    .option('-e, --events', 'sleep on completion events instead of polling')
    .option('-g, --gid-idx <index>', 'entry of the GID table', wholeNumber(0, 255), 0)
    .option('-c, --chk', 'compare the received data')
    .option('--timeout <seconds>', 'give up after this time without a message', wholeNumber(1, 86_400), 30)
    .option('--capture <file>', 'write the packets at the local port to a file for Wireshark (pcapng)')
    .action(
      (
        service: 'rc' | 'uc' | 'ud' | 'srq' | 'rping',
        host: string | undefined,
        options: CommonOptions & {
          ibPort: number;
          listen?: boolean;
          port: number;
          size?: number;
          mtu?: number;
          rxDepth: number;
          numQp?: number;
          iters: number;
          sl: number;
          events?: boolean;
          gidIdx: number;
          chk?: boolean;
          timeout: number;
          capture?: string;
        },
        command: Command,
      ) => {
        if (service === 'rping' && options.events === true) {
          command.error("error: option '-e, --events' is not one of rping: it polls.");
        }
        const { size = service === 'ud' ? 2048 : 4096, mtu: pathMtu = 1024 } = options;
        if (service === 'ud' && options.mtu !== undefined) {
          command.error("error: option '-m, --mtu <bytes>' is not one of ud: a datagram is one packet.");
        }
        if (service === 'ud' && size > largestDatagram) {
          command.error(`error: a datagram is one packet. Its size must be 1 to ${largestDatagram}.`);
        }
        const queuePairs = options.numQp ?? 16;
        if (service !== 'srq' && options.numQp !== undefined) {
          command.error("error: option '-q, --num-qp <queue pairs>' is one of srq: there is one queue pair.");
        }
        if (service === 'srq' && options.rxDepth < queuePairs) {
          command.error(
            `error: each queue pair needs a receive. Option --rx-depth must be ${queuePairs} or more.`,
          );
        }
        if (host !== undefined && options.listen === true) {
          command.error(`error: give either --listen or the host ${host}, not both.`);
        }
        const output = outputOf(options);
        const device = withCapture(chosenDeviceString(options.device), options.capture);
        const common = {
          size,
          mtu: pathMtu,
          rxDepth: options.rxDepth,
          iters: options.iters,
          port: options.ibPort,
          serviceLevel: options.sl,
          gidIndex: options.gidIdx,
          events: options.events === true,
          check: options.chk === true,
          timeout: options.timeout,
          ...(host === undefined
            ? options.listen === true && { peer: { port: options.port, timeout: options.timeout } }
            : { peer: { host, port: options.port, timeout: options.timeout } }),
          signal,
        };
        if (service === 'rping') return pingpongRping(output, device, common, scope);
        return service === 'srq'
          ? pingpongShared(output, device, { ...common, queuePairs }, scope)
          : pingpong(output, device, { ...common, type: serviceTypes[service] }, scope);
      },
    );
  addOfDevice('selftest', 'bring up a board step by step, and say what to look at', jsonShapes.selftest, [
    'hca selftest',
    "hca selftest --device 'emu:?progress=own' --json",
    'hca selftest --timeout 500',
  ])
    .option('--timeout <milliseconds>', 'time limit for an answer of the device', wholeNumber(1), 10_000)
    .action((options: CommonOptions & { timeout: number }) =>
      selftest(outputOf(options), chosenDeviceString(options.device), { timeout: options.timeout, signal }),
    );
  addPerformanceCommands(addOfDevice, outputOf, chosenDeviceString, scope);
  addObservationCommands(addOfDevice, outputOf, chosenDeviceString, scope);
}

/** A device string with another underlying function. @throws VerbsError EINVAL where an address is that of one function */
function ofFunction(deviceString: string, underlyingFunction: number | undefined): string {
  if (underlyingFunction === undefined) return deviceString;
  const name = parseDeviceString(deviceString);
  if ('underlyingFunction' in name) return formatDeviceString({ ...name, underlyingFunction });
  throw new VerbsError(`${deviceString} is the address of one function, --uf cannot choose another`, {
    code: 'EINVAL',
    verb: 'readRegister',
    attribute: '--uf',
    expected: 'the address of that function in --device',
  });
}
