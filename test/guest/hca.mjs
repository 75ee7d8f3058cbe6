// Runs in the guest: `hca` on the device that is the first argument, one command after the other in one process, as a process takes
// longer to start here than a command to run. Writes what each gave to /host/result.json.
import { writeFileSync } from 'node:fs';

import { runCommandLine } from '../../dist/lib/cli/command_line.js';

const device = process.argv[2];
const result = {};
for (const words of [
  ['list'],
  ['info', '--device', device],
  ['selftest', '--device', device, '--timeout', '60000'],
  ['doorbell', '--device', device, '--iterations', '20', '--warmup', '2', '--size', '64'],
  ['kicks', '--device', device, '--count', '4'],
  ['pingpong', 'ud', '--device', device, '--iters', '4', '--size', '512', '--chk', '--events'],
]) {
  const run = { out: '', error: '' };
  const streams = { out: (text) => (run.out += text), error: (text) => (run.error += text) };
  run.exitCode = await runCommandLine([...words, '--json'], streams, new AbortController().signal);
  result[words[0]] = run;
}
writeFileSync('/host/result.json', JSON.stringify(result));
