// Runs in the guest: libibverbs programs on the functions in the first argument, separated by commas: vfio: as an ordinary user, pci: as
// root. The other arguments are command lines; two separated by " | " run at the same time, each on its own function, the second with the
// address of the first. Writes the results to /host/result.json.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';

import { runCommandLine } from '../../dist/lib/cli/command_line.js';

const [list, ...lines] = process.argv.slice(2);
const devices = list.split(',');
const user = 1000;
const streams = { out: () => {}, error: (text) => process.stderr.write(text) };
if (devices[0].startsWith('vfio:')) {
  const words = ['setup', ...devices, '--owner', String(user), '--apply'];
  await runCommandLine(words, streams, new AbortController().signal);
  process.setgid(user);
  process.setuid(user);
}

/** Runs a program; reports when the other end can begin, and its result. */
function run(device, line) {
  const given = ['dist/lib/cli/main.js', 'run', '--explain', '--device', device, '--', ...line.split(' ')];
  const child = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'pipe'] });
  const result = { stdout: '', stderr: '' };
  const ended = new Promise((resolve) => {
    child.on('close', (status) => resolve({ status, ...result }));
  });
  const listening = new Promise((resolve) => {
    child.on('close', resolve);
    for (const stream of ['stdout', 'stderr']) {
      child[stream].setEncoding('utf8');
      child[stream].on('data', (text) => {
        result[stream] += text;
        if (/local address|Waiting for client/.test(result.stdout)) resolve();
      });
    }
  });
  return { listening, ended };
}

const results = [];
for (const line of lines) {
  const [first, second] = line.split(' | ');
  if (second === undefined) {
    results.push(await run(devices[0], first).ended);
    continue;
  }
  const server = run(devices[0], `/usr/bin/stdbuf -oL ${first}`);
  await server.listening;
  const client = run(devices[1], `${second} 127.0.0.1`);
  results.push(await server.ended, await client.ended);
}
writeFileSync('/host/result.json', JSON.stringify(results));
