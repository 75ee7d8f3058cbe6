import { Command, CommanderError } from 'commander';

import { packageVersion } from '../board/native_files.ts';
import type { Streams } from './output/output.ts';
import { ProgramEnd } from './program_end.ts';
import { Scope } from './scope.ts';

/** How a command ended: as it should, with an error, or called in a wrong way. */
export const ExitCode = { success: 0, failure: 1, usage: 2 } as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/**
 * Runs `hca` with some of its commands, or all.
 * @param words what stands behind `hca`
 * @param signal ends commands: those that watch with success, others as a failure
 * @param add adds the commands
 * @returns an {@link ExitCode}; of `run` that of the program
 */
export async function execute(
  words: readonly string[],
  streams: Streams,
  signal: AbortSignal,
  add: (program: Command, scope: Scope) => void,
): Promise<number> {
  try {
    await Scope.run(signal, (scope) => {
      const program = programOf(streams);
      add(program, scope);
      return program.parseAsync(words, { from: 'user' });
    });
    return ExitCode.success;
  } catch (error) {
    if (error instanceof ProgramEnd) return error.exitCode;
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.success : ExitCode.usage;
    streams.error(`hca: ${signal.aborted ? 'interrupted' : messageOf(error)}\n`);
    return ExitCode.failure;
  }
}

/** One line: what was wrong, and what would be right where the message does not say so. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const expected: unknown = Reflect.get(error, 'expected');
  const cure =
    typeof expected === 'string' && !error.message.includes(expected) ? `; expected: ${expected}` : '';
  return `${error.message}${cure}`.replaceAll('\n', ' ');
}

function programOf(streams: Streams): Command {
  return new Command('hca')
    .description(
      'An InfiniBand host channel adapter on an FPGA, or its emulated board: inspect and measure it.',
    )
    .version(packageVersion)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: streams.out,
      writeErr: streams.error,
      outputError: (text, write) => write(oneLine(text, 'hca --help')),
    })
    .addHelpText(
      'after',
      `
Devices: emu:[UF]?progress=shared|own|stepped&… (a new emulated board), serve:NAME[/UF] (a board of hca serve); the default is
FPGA_VERBS_DEVICE, or emu:
Exit codes: 0 success, 1 failure, 2 wrong usage.

Examples:
  hca info -v
  hca registers underlying_function.status control.lane_state
  hca doorbell --device 'emu:?progress=own' --cpu 0 --device-cpu 1`,
    );
}

/**
 * An error of commander, on one line.
 * @param help what tells how it is called: added where commander's own words do not say what would be right
 */
export function oneLine(text: string, help: string): string {
  const line = text
    .replace(/^error: /, '')
    .trim()
    .replaceAll('\n', ' ');
  const isEnough = !text.startsWith('error: ') || / must be |Allowed choices|Did you mean/.test(line);
  return `hca: ${isEnough ? line : `${line.replace(/\.$/, '')}; see ${help}`}\n`;
}
