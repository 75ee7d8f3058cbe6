// Runs the library for C programs under a sanitizer.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Milliseconds to wait for the server. */
const timeLimit = 60_000;

/**
 * Runs the programs of test/libibverbs that use most of libibverbs.so.1, and prints their output.
 * @param directory of a build with a sanitizer, with the library in Release/verbs
 * @param sanitizer path of the sanitizer's own library, which is loaded first
 * @returns whether they succeeded without a report of the sanitizer; also true if Debian's header is missing
 */
export function checksHold(directory, sanitizer) {
  if (!existsSync('/usr/include/infiniband/verbs.h')) {
    console.log('left out: libibverbs.so.1; on Debian: apt-get install libibverbs-dev');
    return true;
  }
  const own = `emu:?linkLayer=infiniband&link=host:sanitize-${process.pid}`;
  const alone = ['checks', 'queues'].every((name) => holds(name, own, directory, sanitizer));
  return alone && holdsOnServedBoard(directory, sanitizer);
}

/** The shared memory program needs a server, which is the usual build. */
function holdsOnServedBoard(directory, sanitizer) {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-sanitize-'));
  const socket = path.join(folder, 'board');
  const words = ['dist/lib/cli/main.js', 'serve', socket, '--device', 'emu:?linkLayer=infiniband'];
  const server = spawn(process.execPath, words, { stdio: 'ignore' });
  try {
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    for (const givenUp = Date.now() + timeLimit; !existsSync(socket) && Date.now() < givenUp;)
      Atomics.wait(nothing, 0, 0, 10);
    return holds('shared_memory', `serve:${socket}`, directory, sanitizer);
  } finally {
    server.kill();
    rmSync(folder, { recursive: true });
  }
}

function holds(name, device, directory, sanitizer) {
  const program = path.join(directory, name);
  const source = `test/libibverbs/programs/${name}.c`;
  execFileSync('gcc', ['-O1', '-o', program, source, '-libverbs', '-lpthread']);
  const { status } = spawnSync(program, {
    stdio: 'inherit',
    env: {
      ...process.env,
      LD_PRELOAD: sanitizer,
      LD_LIBRARY_PATH: path.join(directory, 'Release/verbs'),
      FPGA_VERBS_DEVICE: device,
      ASAN_OPTIONS: 'detect_leaks=0', // the program leaves memory to its end
      UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
    },
  });
  return status === 0;
}
