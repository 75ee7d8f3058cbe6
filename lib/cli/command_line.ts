import type { Command } from 'commander';

import { chosenDeviceString, formatDeviceString, parseDeviceString } from '../board/index.ts';
import { VerbsError } from '../index.ts';
import { build } from './build.ts';
import { demo } from './demo.ts';
import { doorbell } from './doorbell.ts';
import { info } from './info.ts';
import { list } from './list.ts';
import { wholeNumber } from './option_values.ts';
import { Output, type Streams } from './output/output.ts';
import { addPerformanceCommands } from './performance/commands.ts';
import { addPingpongCommand } from './pingpong_command.ts';
import { registers } from './registers.ts';
import { execute, oneLine } from './program.ts';
import { addRunCommand } from './run_command.ts';
import { serve } from './serve.ts';
import { addObservationCommands } from './observe/commands.ts';
import type { Scope } from './scope.ts';
import { selftest } from './selftest/selftest.ts';
import { setup } from './setup.ts';

interface CommonOptions {
  readonly device?: string;
  readonly json?: boolean;
}

const mebibyte = 2 ** 20;
const largestPayload = 256;
const payloadUnit = 4; // a command has whole DWORDs

/** The shape of the output of --json, for the help of each command. Integers beyond 2^53 are strings. */
const jsonShapes = {
  info: '{device, underlyingFunction, identity, limits, board, regions, ports}; sizes in bytes, frequencies in hertz',
  registers:
    '[{block, register, offset, unit, values, fields}]; values and fields have one element for each element of the register',
  selftest: '{device, passed, steps: [{name, passed, detail, advice}]}; steps after a failed one are omitted',
  demo: '{checks: [{name, bytes}], figures: [{size, microseconds, messagesPerSecond, bytesPerSecond, doorbellNanoseconds}]}',
  serve: `a line {served, functions: [first, last]}, then a line for what each client does: {kind: opened|closed|refused,
  underlyingFunction, process, reason}`,
  build: '{files}: the paths of the built files',
  doorbell: `{device, info, warnings, measurements: [{payloadBytes, parts, histogram: [{from, to, count}],
  completionHistogram, lastStoreToRecordUnpaced, floor, ratio, stampedPost, unstampedPost, stamp, clockUncertainty}],
  fences: [{commandsPerFence, storedPerSecond, completedPerSecond}], published: [{what, microseconds, source}]}; nanoseconds;
  each of parts, lastStoreToRecordUnpaced and floor: {samples, minimum, median, percentile99, percentile999, maximum}; these
  two and ratio not in shared progress`,
} as const;

/**
 * Runs the command `hca`.
 * @param words the arguments after `hca`
 * @param signal interrupts the command: one that observes ends with success, any other with failure
 * @returns an {@link ExitCode}; for `run` the exit code of the program
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
  addOfDevice('info', 'identify a device, its board and its ports', jsonShapes.info, [
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
  addOfDevice('doorbell', 'measure the latency of a doorbell and of its parts', jsonShapes.doorbell, [
    'hca doorbell',
    "hca doorbell --device 'emu:?progress=own' --cpu 0 --device-cpu 1 --size 64",
    'hca doorbell --iterations 100000 --samples doorbell.csv --plot doorbell.svg',
  ])
    .option('--iterations <posts>', 'stamped posts of each payload', wholeNumber(1), 10_000)
    .option('--warmup <posts>', 'unmeasured posts before them', wholeNumber(0), 1000)
    .option('--cpu <number>', 'CPU of the posting thread', wholeNumber(0))
    .option('--device-cpu <number>', 'CPU of the device thread', wholeNumber(0))
    .option(
      '--size <bytes>',
      'one payload instead of 0 to 256 B',
      wholeNumber(0, largestPayload, payloadUnit),
    )
    .option('--samples <file>', 'write every sample to a CSV file')
    .option('--plot <file>', 'draw the latency distribution of each payload (SVG)')
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
  addOfDevice('serve', 'serve a board, whose functions other processes open', jsonShapes.serve, [
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
  addPingpongCommand(addOfDevice, outputOf, chosenDeviceString, scope);
  addOfDevice(
    'selftest',
    'bring up a board step by step, with advice where a step fails',
    jsonShapes.selftest,
    ['hca selftest', "hca selftest --device 'emu:?progress=own' --json", 'hca selftest --timeout 500'],
  )
    .option('--timeout <milliseconds>', 'time limit for each answer of the device', wholeNumber(1), 10_000)
    .action((options: CommonOptions & { timeout: number }) =>
      selftest(outputOf(options), chosenDeviceString(options.device), { timeout: options.timeout, signal }),
    );
  addPerformanceCommands(addOfDevice, outputOf, chosenDeviceString, scope);
  addObservationCommands(addOfDevice, outputOf, chosenDeviceString, scope);
}

/** A device string with another underlying function. @throws VerbsError EINVAL: the device string is the address of one function */
function ofFunction(deviceString: string, underlyingFunction: number | undefined): string {
  if (underlyingFunction === undefined) return deviceString;
  const name = parseDeviceString(deviceString);
  if ('underlyingFunction' in name) return formatDeviceString({ ...name, underlyingFunction });
  throw new VerbsError(`${deviceString} is the address of one function: --uf cannot select another`, {
    code: 'EINVAL',
    verb: 'readRegister',
    attribute: '--uf',
    expected: 'the address of that function in --device',
  });
}
