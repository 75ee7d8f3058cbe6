#!/usr/bin/env node
import { loadAddon } from '../board/addon.ts';
import { ExitCode, runCommandLine } from './command_line.ts';

/** Milliseconds from a signal to the end of the process, whatever it does. */
const longestEnd = 800;

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
try {
  // A program that is run ends when it does.
  if (process.argv[2] !== 'run')
    loadAddon().promisePromptEnd(longestEnd, 'hca: interrupted\n', ExitCode.failure);
} catch {
  // Without the addon no command does anything: the command says so.
}
// A reader that has seen enough is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await runCommandLine(
  process.argv.slice(2),
  {
    out: (text) => process.stdout.write(text),
    error: (text) => process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
    outIsTerminal: process.stdout.isTTY,
  },
  interrupted.signal,
);
