import { execFileSync } from 'node:child_process';

/** Hand-written native sources; generated ones keep the format of their generator. */
export function nativeSources() {
  return execFileSync(
    'git',
    ['ls-files', 'native/*.cpp', 'native/*.h', 'fpga/*.cpp', 'fpga/*.h', 'test/*.cpp'],
    {
      encoding: 'utf8',
    },
  )
    .trim()
    .split('\n')
    .filter((name) => !name.startsWith('native/spec/') && !name.endsWith('/spec_formats.cpp'));
}

const clangFormat = ['clang-format-19', 'clang-format'].find((name) => {
  try {
    return /version 19\./.test(execFileSync(name, ['--version'], { encoding: 'utf8' }));
  } catch {
    return false;
  }
});

/** clang-format in the version of the sources, or undefined. */
export const clangFormatProgram = clangFormat;

/** Checks that all files are formatted. Skips clang-format if it is not installed, unless CI is set. */
export function formatChecks() {
  const prettier = {
    name: 'format',
    command: 'npx',
    args: ['prettier', '--check', '--log-level', 'warn', '.'],
  };
  if (clangFormat === undefined && process.env.CI === undefined) {
    console.log('left out: format of native sources; on Debian: apt-get install clang-format-19');
    return [prettier];
  }
  return [
    prettier,
    {
      name: 'format native',
      command: clangFormat ?? 'clang-format-19',
      args: ['--dry-run', '--Werror', ...nativeSources()],
    },
  ];
}
