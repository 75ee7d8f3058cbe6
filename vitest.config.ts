import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// A sanitizer's library is for the processes of the tests alone: under it, Vite itself would take minutes to read each file.
const preloaded = process.env['FPGA_VERBS_PRELOAD'];
if (preloaded !== undefined) process.env['LD_PRELOAD'] = preloaded;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    setupFiles: ['test/helpers/own_run_folder.ts'],
  },
  // Examples import the package by its name; here that is its sources.
  resolve: {
    alias: [
      { find: /^fpga-verbs\/board$/, replacement: source('lib/board/index.ts') },
      { find: /^fpga-verbs\/connect$/, replacement: source('lib/connect/index.ts') },
      { find: /^fpga-verbs\/watch$/, replacement: source('lib/watch/index.ts') },
      { find: /^fpga-verbs$/, replacement: source('lib/index.ts') },
    ],
  },
});
