import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';

import { BackendMissingError } from '../board/backend_missing.ts';
import {
  chosenDeviceString,
  formatDeviceString,
  parseDeviceString,
  type DeviceName,
} from '../board/device_string.ts';
import { builtFile, nativeFile, rtlNotBuilt } from '../board/native_files.ts';
import { obstaclesOf } from '../board/pci/obstacle.ts';
import { PciError } from '../board/pci/pci_error.ts';
import { readPciFunction } from '../board/pci/pci_function.ts';
import { servedPath } from '../board/served_boards.ts';
import { ProgramEnd } from './program_end.ts';

/** Options of `hca run`. */
export interface RunOptions {
  /** Device string; undefined: `FPGA_VERBS_DEVICE`, or an emulated board on a link that all programs share. */
  readonly device: string | undefined;
  /** Have the library print the reason of each failed verb on standard error. */
  readonly explain: boolean;
}

/** Defaults for a device string without a link: the boards of all programs of a user share one link, with LIDs as addresses. */
const sharedLink = { linkLayer: 'infiniband', link: 'host:default' } as const;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
/** Preloaded for UCX, which opens the device node of an adapter. Named without its folder, because LD_PRELOAD splits paths at spaces. */
const nodeLibrary = 'libfpga_verbs_node.so';
/** Exit codes of a shell: command not found, command cannot be executed, and the base for a signal number. */
const exitNotFound = 127;
const exitNotRunnable = 126;
const exitBySignal = 128;

/**
 * `hca run`: runs a libibverbs program on an emulated board of its own, with this package's library in place of the system's.
 * @throws ProgramEnd the program has ended or could not be started; BackendMissingError, DeviceStringError, Error of `nativeFile`: not started
 */
export async function run(words: readonly string[], { device, explain }: RunOptions): Promise<never> {
  const [program, ...rest] = words;
  const chosen = deviceOfPrograms(chosenDeviceString(device));
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: prepend('LD_LIBRARY_PATH', librariesFor(chosen)),
    LD_PRELOAD: prepend('LD_PRELOAD', nodeLibrary),
    FPGA_VERBS_DEVICE: chosen,
    ...(explain ? { FPGA_VERBS_EXPLAIN: '1' } : {}),
  };
  throw new ProgramEnd(await exitCodeOf(() => spawn(program!, rest, { stdio: 'inherit', env }), program!));
}

/** The folders of the libraries for a device, for LD_LIBRARY_PATH. @throws BackendMissingError: the library for `rtl:` is not built */
function librariesFor(device: string): string {
  const plain = path.dirname(nativeFile('verbs/libibverbs.so.1'));
  if (!device.startsWith('rtl:')) return plain;
  const rtl = builtFile('verbs_rtl/libibverbs.so.1');
  if (rtl === undefined) throw new BackendMissingError(rtlNotBuilt(device, 'library'));
  return `${path.dirname(rtl)}:${plain}`;
}

/**
 * The device string for a program. Its defaults are a link that all programs of this machine share, and InfiniBand as the link layer,
 * on which programs need no options.
 * @throws DeviceStringError; PciError; BackendMissingError: programs of libibverbs do not run on such a device
 */
export function deviceOfPrograms(text: string): string {
  const name = parseDeviceString(text);
  if (name.backend === 'serve') return formatDeviceString({ ...name, path: servedPath(name.path) });
  if ('address' in name) return ofPciFunction(name);
  const { link, fabric, linkLayer } = name.options;
  if (name.options.progress === 'stepped') {
    throw new BackendMissingError(
      `device "${text}": nothing would step the board; expected: progress=shared or own`,
    );
  }
  const isJoined = link !== undefined || fabric !== undefined;
  const options = {
    ...name.options,
    ...(isJoined ? {} : { link: sharedLink.link }),
    ...(isJoined || linkLayer !== undefined ? {} : { linkLayer: sharedLink.linkLayer }),
  };
  return formatDeviceString({ ...name, options });
}

/** The device string of a PCI function. @throws PciError: an obstacle that `hca setup` describes */
function ofPciFunction(name: Extract<DeviceName, { backend: 'pci' | 'vfio' }>): string {
  const pciFunction = readPciFunction(name.address);
  const obstacles = pciFunction === undefined ? [] : obstaclesOf(name.backend, pciFunction);
  const obstacle = obstacles.find(({ blocks }) => blocks);
  if (obstacle === undefined) return formatDeviceString(name); // the library reports that no such function exists
  const { problem, cure, code } = obstacle;
  throw new PciError(`${problem}; expected: ${cure}`, code, cure);
}

/** The value of an environment variable that lists libraries or folders, with `first` before all others. */
function prepend(variable: string, first: string): string {
  const rest = process.env[variable];
  return rest === undefined || rest === '' ? first : `${first}:${rest}`;
}

/** Starts the program, forwards signals to it from the start, and waits for its end. Returns its exit code, as a shell reports it. */
async function exitCodeOf(start: () => ChildProcess, program: string): Promise<number> {
  let child: ChildProcess | undefined;
  const listeners = signals.map((signal) => {
    const forward = (): void => {
      // A terminal sends the signals of its keys to all foreground processes: the program already has them.
      const isTyped = (signal === 'SIGINT' || signal === 'SIGQUIT') && process.stdin.isTTY;
      if (!isTyped) child?.kill(signal);
    };
    process.on(signal, forward);
    return { signal, forward };
  });
  try {
    const started = start(); // throws some errors of the system, and emits others
    child = started;
    return await new Promise<number>((resolve, reject) => {
      started.on('error', (error) => {
        if (started.pid === undefined) reject(error); // otherwise the program runs, and a signal could not be sent
      });
      started.once('exit', (code, signal) =>
        resolve(code ?? exitBySignal + (signal === null ? 0 : constants.signals[signal])),
      );
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'was not found' : `cannot be run: ${message}`;
    process.stderr.write(`hca: ${program} ${problem}; expected: a program on PATH, or the path of one\n`);
    return code === 'ENOENT' ? exitNotFound : exitNotRunnable;
  } finally {
    for (const { signal, forward } of listeners) process.off(signal, forward);
  }
}
