import { execFileSync } from 'node:child_process';
import path from 'node:path';

/**
 * Builds native code in a directory of its own, beside the usual one.
 * @param name directory in build/
 * @param definitions CMake definitions
 * @param targets to build; default: both addons
 * @returns environment in which tests use this build
 */
export function buildVariant(name, definitions, targets = ['all']) {
  const directory = path.resolve('build', name);
  const output = path.join(directory, 'Release');
  const options = Object.entries({
    CMAKE_BUILD_TYPE: 'Release',
    CMAKE_LIBRARY_OUTPUT_DIRECTORY: output,
    ...definitions,
  }).map(([key, value]) => `-D${key}=${value}`);
  execFileSync('cmake', ['-S', '.', '-B', directory, ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync('cmake', ['--build', directory, '--parallel', '2', '--target', ...targets], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return {
    FPGA_VERBS_ADDON: path.join(output, 'fpga_verbs.node'),
    FPGA_VERBS_TEST_ADDON: path.join(output, 'fpga_verbs_test.node'),
  };
}
