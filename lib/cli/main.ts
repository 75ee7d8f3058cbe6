#!/usr/bin/env node
import { loadAddon } from '../board/addon.ts';
import { ExitCode } from './program.ts';

/** Milliseconds from a signal to the end of the process, in any case. */
const longestEnd = 800;

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
const words = process.argv.slice(2);
const isRun = words[0] === 'run';
// `hca run` loads no code of other commands, so that its program starts at once even if files are slow to read.
const commandLine = isRun
  ? (await import('./run_command.ts')).runProgramLine
  : (await import('./command_line.ts')).runCommandLine;
try {
  // `hca run` ends when its program does.
  if (!isRun) loadAddon().promisePromptEnd(longestEnd, 'hca: interrupted\n', ExitCode.failure);
} catch {
  // Without the addon the command itself reports the error.
}
// A reader that closes the pipe is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await commandLine(
  words,
  {
    out: (text) => process.stdout.write(text),
    error: (text) => process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
    outIsTerminal: process.stdout.isTTY,
  },
  interrupted.signal,
);
