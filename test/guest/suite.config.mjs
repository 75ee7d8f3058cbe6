// Configuration of vitest in the guest: one file after the other, bundled, because an emulated processor reads hundreds of modules slowly.
// Vitest gives a thread 60 s to start, and no option extends that; it is too short while the host runs other tests as well.
const { setTimeout: usual } = globalThis;
const patient = (call, delay, ...more) => usual(call, delay < 60_000 ? delay : 10 * delay, ...more);
globalThis.setTimeout = Object.assign(patient, usual);

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
