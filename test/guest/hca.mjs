// Runs in the guest: `hca` on the device of the first argument, one command after the other in one process, because starting a process
// takes longer here than a command. The steps for vfio: that need root come first; the process then becomes an ordinary user. Writes the
// results to /host/result.json.
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { openDevice } from '../../dist/lib/index.js';
import { runCommandLine } from '../../dist/lib/cli/command_line.js';
import { writeBehindTheMapping } from './hca_unmapped.mjs';

const device = process.argv[2];
const isVfio = device.startsWith('vfio:');
const user = 1000;
const sharedPath = '/tmp/shared/socket';
const result = {};

mkdirSync(path.dirname(sharedPath));

if (isVfio) {
  await run(['setup', device, '--owner', String(user), '--apply']);
  chownSync(path.dirname(sharedPath), user, user);
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
result.shared = await observeShared();
if (isVfio) result.unmapped = await writeBehindTheMapping(device);
writeFileSync('/host/result.json', JSON.stringify(result));

/** Observes through this process, which shares function 0, and returns the number of one of its queue pairs. */
async function observeShared() {
  const context = openDevice(device);
  context.shareObservation(sharedPath);
  const queue = context.createCompletionQueue();
  const { number } = context.createProtectionDomain().createQueuePair({
    type: 'RC',
    sendCompletionQueue: queue,
    receiveCompletionQueue: queue,
  });
  for (const words of [['counters', 'kicks'], ['qps'], ['regions'], ['top', '--count', '1']])
    await run([...words, '--device', `serve:${sharedPath}`]);
  context[Symbol.dispose]();
  return number;
}

async function run(words) {
  const given = { out: '', error: '' };
  const streams = { out: (text) => (given.out += text), error: (text) => (given.error += text) };
  given.exitCode = await runCommandLine([...words, '--json'], streams, new AbortController().signal);
  result[words[0]] = given;
}
