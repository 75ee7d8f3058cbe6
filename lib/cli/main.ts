#!/usr/bin/env node
import { loadAddon } from '../board/addon.ts';
import { ExitCode } from './program.ts';

/** Milliseconds from a signal to the end of the process, whatever it does. */
const longestEnd = 800;

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
const words = process.argv.slice(2);
const isRun = words[0] === 'run';
// Another program is to start at once, also where files are slow to read: it waits for no other command's code.
const commandLine = isRun
  ? (await import('./run_command.ts')).runProgramLine
  : (await import('./command_line.ts')).runCommandLine;
try {
  // A program that is run ends when it does.
  if (!isRun) loadAddon().promisePromptEnd(longestEnd, 'hca: interrupted\n', ExitCode.failure);
} catch {
  // Without the addon no command does anything: the command says so.
}
// A reader that has seen enough is no error.
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
