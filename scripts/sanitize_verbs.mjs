// The library for programs in C under a sanitizer.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Runs the programs of test/libibverbs that use most of libibverbs.so.1, and prints what they say.
 * @param directory a build with a sanitizer; it has the library in Release/verbs
 * @param sanitizer the sanitizer's own library, which comes before all others
 * @returns whether they ended well, and the sanitizer had nothing to report; also where Debian's header is missing
 */
export function checksHold(directory, sanitizer) {
  if (!existsSync('/usr/include/infiniband/verbs.h')) {
    console.log('left out: libibverbs.so.1; on Debian: apt-get install libibverbs-dev');
    return true;
  }
  return ['checks', 'queues'].every((name) => holds(name, directory, sanitizer));
}

function holds(name, directory, sanitizer) {
  const program = path.join(directory, name);
  execFileSync('gcc', ['-O1', '-o', program, `test/libibverbs/programs/${name}.c`, '-libverbs', '-lpthread']);
  const { status } = spawnSync(program, {
    stdio: 'inherit',
    env: {
      ...process.env,
      LD_PRELOAD: sanitizer,
      LD_LIBRARY_PATH: path.join(directory, 'Release/verbs'),
      FPGA_VERBS_DEVICE: `emu:?linkLayer=infiniband&link=host:sanitize-${process.pid}`,
      ASAN_OPTIONS: 'detect_leaks=0', // what the program leaves to its end
      UBSAN_OPTIONS: 'halt_on_error=1:print_stacktrace=1',
    },
  });
  return status === 0;
}
