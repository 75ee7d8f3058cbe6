// Runs in the guest: `hca` on the device that is the first argument, one command after the other in one process, as a process takes
// longer to start here than a command to run. Steps for vfio: that need root come first; then it is an ordinary user. Writes what each
// gave to /host/result.json.
import { writeFileSync } from 'node:fs';

import { runCommandLine } from '../../dist/lib/cli/command_line.js';
import { writeBehindTheMapping } from './hca_unmapped.mjs';

const device = process.argv[2];
const isVfio = device.startsWith('vfio:');
const user = 1000;
const result = {};

if (isVfio) {
  await run(['setup', device, '--owner', String(user), '--apply']);
  process.setgid(user);
  process.setuid(user);
}
await run(['list']);
for (const words of [
  ['info'],
  ['selftest', '--timeout', '60000'],
  ['doorbell', '--iterations', '20', '--warmup', '2', '--size', '64'],
  ['kicks', '--count', '4'],
  ['pingpong', 'ud', '--iters', '4', '--size', '512', '--chk', '--events'],
]) {
  await run([words[0], ...words.slice(1), '--device', device]);
}
if (isVfio) result.unmapped = await writeBehindTheMapping(device);
writeFileSync('/host/result.json', JSON.stringify(result));

async function run(words) {
  const given = { out: '', error: '' };
  const streams = { out: (text) => (given.out += text), error: (text) => (given.error += text) };
  given.exitCode = await runCommandLine([...words, '--json'], streams, new AbortController().signal);
  result[words[0]] = given;
}
