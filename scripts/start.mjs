// The main job after set-up, on the emulated board: who it is, two of them connected, commands being kicked, and the
// latency of a doorbell.
import { spawnSync } from 'node:child_process';

const steps = [
  ['Who the board is', ['info', '--device', 'emu:']],
  ['Two boards are connected: every operation, checked byte for byte, then figures', ['demo']],
  ['Ping-pong between two boards', ['pingpong', 'rc', '--size', '64', '--iters', '20000', '--chk']],
  ['Commands are posted, collected, kicked and sent', ['kicks', '--device', 'emu:', '--count', '6']],
  [
    'Doorbell latency when the device has a thread of its own',
    ['doorbell', '--device', 'emu:?progress=own', '--size', '64', '--iterations', '5000'],
  ],
];
for (const [title, words] of steps) {
  console.log(
    `\n── ${title}: hca ${words.map((word) => (word.includes('?') ? `'${word}'` : word)).join(' ')}\n`,
  );
  const { status } = spawnSync(process.execPath, ['dist/lib/cli/main.js', ...words], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
