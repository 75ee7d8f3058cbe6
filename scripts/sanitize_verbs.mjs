// The library for programs in C under a sanitizer.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Runs the program of test/libibverbs that uses most of libibverbs.so.1, and prints what it says.
 * @param directory a build with a sanitizer; it has the library in Release/verbs
 * @param sanitizer the sanitizer's own library, which comes before all others
 * @returns whether it ended well, and the sanitizer had nothing to report; also where Debian's header is missing
 */
export function checksHold(directory, sanitizer) {
  if (!existsSync('/usr/include/infiniband/verbs.h')) {
    console.log('left out: libibverbs.so.1; on Debian: apt-get install libibverbs-dev');
    return true;
  }
  const program = path.join(directory, 'checks');
  const source = 'test/libibverbs/programs/checks.c';
  execFileSync('gcc', ['-O1', '-o', program, source, '-libverbs', '-lpthread']);
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
