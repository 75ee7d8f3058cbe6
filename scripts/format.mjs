// Formats all hand-written files.
import { execFileSync } from 'node:child_process';

import { clangFormatProgram, nativeSources } from './format_checks.mjs';

execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', '.'], { stdio: 'inherit' });
if (clangFormatProgram === undefined) {
  console.error('clang-format 19 is missing; on Debian: apt-get install clang-format-19');
  process.exit(1);
}
execFileSync(clangFormatProgram, ['-i', ...nativeSources()], { stdio: 'inherit' });
