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
  /** Device string; undefined: that of the environment, else a board that meets those of other programs. */
  readonly device: string | undefined;
  /** The library says on the standard error why each verb that fails does. */
  readonly explain: boolean;
}

/** Options that programs are given where a device string says nothing else: boards of all programs of a user meet, by LIDs. */
const usual = { linkLayer: 'infiniband', link: 'host:default' } as const;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
/** Answers UCX, which looks for the device node of an adapter. Found in the folder of the library, by its name: a path may have spaces. */
const nodeLibrary = 'libfpga_verbs_node.so';
/** As a shell says that there is no such program, or that it cannot be run. */
const exitNotFound = 127;
const exitNotRunnable = 126;
const exitBySignal = 128;

/**
 * `hca run`: runs a program of libibverbs on an emulated board of its own, by the library of this package in the place of the system's.
 * @throws ProgramEnd when it has ended; BackendMissingError, DeviceStringError, Error of `nativeFile`: it was not run
 */
export async function run(words: readonly string[], { device, explain }: RunOptions): Promise<never> {
  const [program, ...rest] = words;
  const chosen = deviceOfPrograms(chosenDeviceString(device));
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: before('LD_LIBRARY_PATH', librariesFor(chosen)),
    LD_PRELOAD: before('LD_PRELOAD', nodeLibrary),
    FPGA_VERBS_DEVICE: chosen,
    ...(explain ? { FPGA_VERBS_EXPLAIN: '1' } : {}),
  };
  throw new ProgramEnd(await endOf(() => spawn(program!, rest, { stdio: 'inherit', env }), program!));
}

/** The folders of the libraries that open a device, as LD_LIBRARY_PATH has them. @throws BackendMissingError: the one for `rtl:` is not built */
function librariesFor(device: string): string {
  const plain = path.dirname(nativeFile('verbs/libibverbs.so.1'));
  if (!device.startsWith('rtl:')) return plain;
  const rtl = builtFile('verbs_rtl/libibverbs.so.1');
  if (rtl === undefined) throw new BackendMissingError(rtlNotBuilt(device, 'library'));
  return `${path.dirname(rtl)}:${plain}`;
}

/**
 * The device string that a program gets: what it says, and where it says nothing of them, a link at which programs of this machine meet,
 * and InfiniBand as the link layer, on which they need no options.
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
    ...(isJoined ? {} : { link: usual.link }),
    ...(isJoined || linkLayer !== undefined ? {} : { linkLayer: usual.linkLayer }),
  };
  return formatDeviceString({ ...name, options });
}

/** The device string of a PCI function. @throws PciError: something stands between the program and it, as `hca setup` says */
function ofPciFunction(name: Extract<DeviceName, { backend: 'pci' | 'vfio' }>): string {
  const pciFunction = readPciFunction(name.address);
  const obstacles = pciFunction === undefined ? [] : obstaclesOf(name.backend, pciFunction);
  const obstacle = obstacles.find(({ blocks }) => blocks);
  if (obstacle === undefined) return formatDeviceString(name); // the library says that there is none
  const { problem, cure, code } = obstacle;
  throw new PciError(`${problem}; expected: ${cure}`, code, cure);
}

/** The value of an environment variable that lists libraries or their folders, with one more before all others. */
function before(variable: string, first: string): string {
  const rest = process.env[variable];
  return rest === undefined || rest === '' ? first : `${first}:${rest}`;
}

/** Starts the program and waits for its end. Signals are passed on to it from its first moment on: none ends this process alone. */
async function endOf(start: () => ChildProcess, program: string): Promise<number> {
  let child: ChildProcess | undefined;
  const listeners = signals.map((signal) => {
    const passOn = (): void => {
      // A terminal gives what is typed there to all processes in its foreground: the program has it already.
      const isTyped = (signal === 'SIGINT' || signal === 'SIGQUIT') && process.stdin.isTTY;
      if (!isTyped) child?.kill(signal);
    };
    process.on(signal, passOn);
    return { signal, passOn };
  });
  try {
    const started = start();
    child = started;
    return await new Promise<number>((resolve) => {
      started.once('error', (error: NodeJS.ErrnoException) => {
        const isMissing = error.code === 'ENOENT';
        process.stderr.write(
          `hca: ${program} ${isMissing ? 'is not there' : `cannot be run: ${error.message}`}; expected: a program of PATH, or the path of one\n`,
        );
        resolve(isMissing ? exitNotFound : exitNotRunnable);
      });
      started.once('exit', (code, signal) =>
        resolve(code ?? exitBySignal + (signal === null ? 0 : constants.signals[signal])),
      );
    });
  } finally {
    for (const { signal, passOn } of listeners) process.off(signal, passOn);
  }
}
