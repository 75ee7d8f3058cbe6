// Of vitest in the guest: one file after the other, which are bundled, as an emulated processor reads hundreds of modules slowly.
export default {
  root: '/repo',
  cacheDir: '/tmp/vite',
  test: {
    include: ['build/guest_suite/*.test.mjs'],
    testNamePattern: ' on (pci|vfio):',
    pool: 'threads',
    fileParallelism: false,
    testTimeout: 300_000,
    reporters: ['dot', 'json'],
    outputFile: { json: '/host/report.json' },
  },
};
