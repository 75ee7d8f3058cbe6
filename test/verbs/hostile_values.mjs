// Values that no function of the API accepts, from a seed.

const nothing = [
  undefined,
  null,
  true,
  false,
  Symbol('hostile'),
  Symbol.iterator,
  () => {},
  function named() {},
];
const numbers = [0, -0, 1, -1, 0.5, 7, 64, 255, 4096, 65_536, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e308, NaN, Infinity, -Infinity]; // prettier-ignore
const bigints = [0n, 1n, -1n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 200n];
const strings = ['', '0', 'RC', 'UD', 'read', 'emu:', 'emu:?progress=stepped', 'emu:?seed=x', 'serve:nothing', 'vfio:0000:00:00.0', '\0', '__proto__', 'toString', 'constructor', 'x'.repeat(10_000), '\ud800']; // prettier-ignore
const plain = [...nothing, ...numbers, ...bigints, ...strings];

/** @param tools random numbers, objects that can be closed, and the error that an argument throws */
export function hostileValue(tools, depth = 0) {
  const { random, pool, trap } = tools;
  const again = () => (depth > 2 ? random.pick(plain) : hostileValue(tools, depth + 1));
  /** The action of an argument when it is read. */
  const act = () => {
    const way = random.below(6);
    if (way === 0) throw trap;
    const object = random.pick(pool);
    try {
      if (way === 1) object?.close?.();
      if (way === 2) object?.[Symbol.dispose]?.();
      if (way === 3) object?.free?.();
    } catch {
      // there may be none to close
    }
    return again();
  };
  const makers = [
    () => random.pick(plain),
    () => random.pick(plain),
    () => random.pick(pool),
    () => random.pick(pool),
    () => memory(random),
    () => [again(), again()],
    () => ({ length: random.pick([2 ** 32 - 1, -1, 'x']), 0: again() }),
    () => Object.assign([], { length: 2 ** 32 - 1 }),
    () =>
      Object.fromEntries(
        ['name', 'type', 'kind', 'length', 'signal', 'timeout', 'port'].map((key) => [key, again()]),
      ),
    () => ({ [Symbol.toPrimitive]: act }),
    () => ({ valueOf: act, toString: act }),
    () => Object.defineProperties({}, Object.fromEntries(['opcode', 'entries', 'type', 'data', 'kind', 'path', 'buffer', 'byteLength', 'length'].map((key) => [key, { enumerable: true, get: act }]))), // prettier-ignore
    () => new Proxy(random.pick([{}, [], new Uint8Array(8), random.pick(pool.filter((value) => typeof value === 'object')) ?? {}]), { get: act }), // prettier-ignore
    () => new Proxy({}, { ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: act() }) }), // prettier-ignore
    () => Object.create(Object.getPrototypeOf(random.pick(pool) ?? {}) ?? null),
  ];
  return random.pick(makers)();
}

function memory(random) {
  const bytes = random.pick([0, 1, 64, 4096, 65_536]);
  const resizable = new ArrayBuffer(bytes, { maxByteLength: 131_072 });
  const makers = [
    () => new ArrayBuffer(bytes),
    () => new Uint8Array(bytes),
    () => new Float64Array(8),
    () => new DataView(new ArrayBuffer(64)),
    () => new SharedArrayBuffer(bytes),
    () => new Uint8Array(new SharedArrayBuffer(bytes)),
    () => resizable,
    () => new Uint8Array(resizable),
    () => Object.defineProperty(resizable, 'resizable', { value: false }),
    () => Object.defineProperty(new Uint8Array(64), 'byteLength', { value: 2 ** 40 }),
    () => Object.defineProperty(new Uint8Array(64), 'length', { value: 2 ** 40 }),
    () => Object.defineProperty(new Uint8Array(64), 'buffer', { value: new ArrayBuffer(2 ** 20) }),
    () => Object.setPrototypeOf(new Uint8Array(64), null),
    () => Object.freeze(new ArrayBuffer(64)),
    () => new WebAssembly.Memory({ initial: 1, maximum: 2 }).buffer,
    () => Buffer.from('of the pool'),
    () => {
      const gone = new ArrayBuffer(64);
      structuredClone(gone, { transfer: [gone] });
      return new Uint8Array(gone);
    },
  ];
  const made = random.pick(makers)();
  // Memory that may be registered is resized later.
  setImmediate(() => {
    if (resizable.byteLength > 0) resizable.resize(0);
  });
  return made;
}
