import type { Command } from 'commander';

import type { Streams } from './output/output.ts';
import { execute, oneLine } from './program.ts';
import { run } from './run.ts';

/** `hca run` without the code of other commands, which takes longer to load than a program to start. As `runCommandLine`. */
export function runProgramLine(
  words: readonly string[],
  streams: Streams,
  signal: AbortSignal,
): Promise<number> {
  return execute(words, streams, signal, addRunCommand);
}

/** Adds the command `run`. */
export function addRunCommand(program: Command): void {
  program
    .command('run')
    .description('run a libibverbs program on its own emulated board, with the library of this package')
    .configureOutput({ outputError: (text, write) => write(oneLine(text, 'hca run --help')) })
    .option('--device <device>', 'device string (default: boards of all programs are connected)')
    .option('--explain', 'print the reason of each failed verb on standard error')
    .argument('<program>', 'the words after it are passed to the program')
    .argument('[words...]')
    .passThroughOptions()
    .addHelpText(
      'after',
      `
The exit code is the program's, or 128 plus the number of the signal that ended it; 127: not found; 126: cannot be run.

Examples:
  hca run -- ibv_devinfo -v
  hca run -- ibv_rc_pingpong
  hca run -- ibv_rc_pingpong localhost
  hca run --explain -- ib_write_lat
`,
    )
    .action((first: string, words: string[], options: { device?: string; explain?: boolean }) =>
      run([first, ...words], { device: options.device, explain: options.explain === true }),
    );
}
