// Ordering of the driver's reads of device data, and of its writes for the device. The engine does not reorder typed-array loads and
// stores. On x64 the processor keeps the order of loads, and of stores, so Atomics, which call the engine's built-ins there, are not
// needed.

/** Loads a DWORD that the device writes last: what it wrote before is seen by loads after this one. */
export const loadAcquire: (dwords: Int32Array, index: number) => number =
  process.arch === 'x64' ? (dwords, index) => dwords[index]! : (dwords, index) => Atomics.load(dwords, index);

/** Stores a DWORD that the device reads first: what was stored before is seen by the device that sees it. */
export const storeRelease: (dwords: Int32Array, index: number, value: number) => void =
  process.arch === 'x64'
    ? (dwords, index, value) => {
        dwords[index] = value;
      }
    : (dwords, index, value) => {
        Atomics.store(dwords, index, value);
      };
