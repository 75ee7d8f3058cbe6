// Runs in the guest: programs of libibverbs on the function that is the first argument, as an ordinary user; the other arguments are the
// paths of programs. Writes what each gave to /host/result.json.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

import { runCommandLine } from '../../dist/lib/cli/command_line.js';

const [device, ...programs] = process.argv.slice(2);
const user = 1000;
const streams = { out: () => {}, error: (text) => process.stderr.write(text) };
const words = ['setup', device, '--owner', String(user), '--apply'];
await runCommandLine(words, streams, new AbortController().signal);
process.setgid(user);
process.setuid(user);
const results = programs.map((program) => {
  const given = ['dist/lib/cli/main.js', 'run', '--explain', '--device', device, '--', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' });
  return { status, stdout, stderr };
});
writeFileSync('/host/result.json', JSON.stringify(results));
