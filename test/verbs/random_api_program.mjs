// Calls of the whole public API from a seed, with arguments that are nearly right and others that are hostile:
// node random_api_program.mjs LIBRARY SEED STEPS LAST. In the file LAST stands the call that is being made, so that one that never returns, or
// ends the process, can be told. Methods are called on objects of their class; those of the addon on others too. Fails where something is thrown that is no error, or one that says that the library itself is wrong.
import { closeSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs';
import path from 'node:path';

import { Random } from '../helpers/random.mjs';
import { hostileValue } from './hostile_values.mjs';

const [library, seed, steps, last] = process.argv.slice(2);
const random = new Random(Number(seed));
const modules = await Promise.all(
  ['index.js', 'board/index.js', 'connect/index.js', 'spec/index.js'].map(
    (file) => import(path.join(library, file)),
  ),
);
const [verbs, board, connect] = modules;
/** Functions that do something to the machine, and not to a board. */
const machine = ['apply', 'loadRtlAddon', 'default'];
/** Public for other modules of the library: the driver's side of an object. */
const forTheLibrary = ['driver', 'device', 'fail', 'failed', 'wakeAll', 'afterFailure'].concat([
  'postPreparedSend',
  'postPreparedReceive',
  'read',
  'copy',
  'identifierLow',
  'identifierHigh',
]);
const privates = readPrivates(library);
/** Named functions of all entries, and classes that users construct. */
const exported = modules.flatMap((module) =>
  Object.entries(module).filter(
    ([name, value]) =>
      typeof value === 'function' && !machine.includes(name) && !privates.get(name)?.has('constructor'),
  ),
);
const lastFile = openSync(last, 'w');
const most = 80;
const stepsOfAWorld = 50;
const pool = [];
const faults = [];
/** How often calls ended without an error, by name. */
const succeeded = {};

/** An error that the library means. */
const expected = ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'VerbsError', 'CompletionError', 'DeviceStringError', 'PciError', 'BackendMissingError', 'AbortError', 'TimeoutError', 'DataCloneError']; // prettier-ignore
const trap = new Error('thrown by an argument');

/** Objects of the engine are arguments only. */
const isOfApi = (value) => {
  try {
    const { constructor } = Object.getPrototypeOf(value) ?? {};
    return (
      constructor === Object ||
      (typeof constructor === 'function' && privates.has(constructor.name)) ||
      ofAddon.includes(constructor?.name)
    );
  } catch {
    return false; // an argument that throws, which an object of the API kept
  }
};
const ofAddon = ['BoardFunction', 'DmaMemory', 'Interrupt', 'ServedBoard'];
const keep = (value) => {
  if (value instanceof Promise || typeof value?.throw === 'function') return; // what it throws it was given
  if (typeof value !== 'object' || value === null || pool.includes(value)) return;
  if (pool.length < most) pool.push(value);
  else pool[random.below(most)] = value;
};
const ofClass = (type) => pool.filter((value) => value instanceof type);
const some = (type) => random.pick([...ofClass(type), undefined]);
const { Context, CompletionQueue, QueuePair, SharedReceiveQueue, MemoryRegion, RemoteMemory } = verbs;
const { Access, Opcode } = verbs;
const every = Access.localWrite | Access.remoteWrite | Access.remoteRead | Access.remoteAtomic;
const tools = { random, pool, trap };
const hostile = () => hostileValue(tools);

const small = { progress: 'stepped', queuePairs: 64, pageTableEntries: 4096, memoryKeys: 256 };
const completionQueues = () => ({
  sendCompletionQueue: some(CompletionQueue),
  receiveCompletionQueue: some(CompletionQueue),
});
const slice = () => some(MemoryRegion)?.slice(0, 8);
const sendRequest = () => ({
  opcode: random.pick(Object.values(Opcode)),
  wrId: random.below(100),
  signaled: random.below(2) === 1,
  ...random.pick([{ gather: [slice()] }, { inlineData: new Uint8Array(random.below(100)) }, {}]),
  ...random.pick([{ remote: some(RemoteMemory) }, { remote: some(MemoryRegion)?.remote() }, {}]),
  ...random.pick([{}, { compareAdd: 1n, swap: 2n }, { immediateData: 7 }]),
});

/** Arguments that a call takes, by its name; of others there are hostile ones only. */
const right = {
  EmulatedBoard: () => [{ ...small, seed: random.below(100) }],
  makeBoard: () => [{ ...small }],
  openDevice: () => [
    random.pick([some(board.EmulatedBoard)?.open(random.below(4)), 'emu:?progress=stepped&queuePairs=64']),
  ],
  open: () => [random.below(4)],
  createCompletionQueue: () => [{ entries: 1 + random.below(64) }],
  createSharedReceiveQueue: () => [{ maxWorkRequests: 8, maxScatterEntries: 1 }],
  createQueuePair: () => [
    {
      type: random.pick(['RC', 'UC', 'UD']),
      ...completionQueues(),
      ...random.pick([{}, { sharedReceiveQueue: some(SharedReceiveQueue) }]),
      capabilities: { maxSendWorkRequests: 8, maxReceiveWorkRequests: 8, maxInlineData: 64 },
    },
  ],
  allocate: () => [1 + random.below(65_536), every],
  registerMemory: () => [new Uint8Array(1 + random.below(8192)), every],
  slice: () => [0, random.below(64)],
  postSend: () => [random.pick([sendRequest(), [sendRequest(), sendRequest()]])],
  postReceive: () => [{ wrId: 1, scatter: [slice()] }],
  poll: () => [Array.from({ length: 1 + random.below(8) }, () => new verbs.Completion())],
  wait: () => [{ timeout: 1 }],
  arm: () => [],
  connectQueuePair: () => {
    const queuePair = some(QueuePair);
    const context = some(Context);
    const address = connect.addressOf(context, queuePair);
    return [queuePair, address, address];
  },
  addressOf: () => [some(Context), some(QueuePair)],
  Connection: () => [some(Context)],
  modify: () => [{ state: random.below(8), port: 1, accessFlags: every, partitionKeyIndex: 0 }],
  advanceTime: () => [random.pick([1, 1000, 2n ** 30n, 2n ** 62n]), random.below(20_000)],
  runUntilIdle: () => [random.below(20_000)],
  step: () => [random.below(20_000)],
  inject: () => [
    { kind: random.pick(['drop', 'tear', 'delay', 'reorder', 'fault_dma']), nth: random.below(4) },
  ],
  impair: () => [{ loss: 0.1, corruption: 0.1 }],
  arrive: () => [new Uint8Array(1 + random.below(200)), 1],
  replay: () => [some(board.EmulatedBoard)?.takeTransactions()],
  startRecording: () => [random.below(1000)],
  startPacketTrace: () => [random.below(1000)],
  map: () => [new Uint8Array(64), 'read'],
  read32: () => [0, 4 * random.below(64)],
  write32: () => [0, 4 * random.below(65_536), random.below(2 ** 32)],
  write64: () => [2, 8 * random.below(512), random.below(2 ** 32), random.below(2 ** 32)],
  allocateMemory: () => [1 + random.below(65_536)],
  startCapture: () => [`capture${random.below(3)}`],
};

/** The act of a getter on the object whose method is called. */
function closes(target) {
  try {
    if (random.below(2) === 0) target?.close?.();
  } catch {
    // something was made of it
  }
}

/** A call's arguments: right ones, in which one thing may be made hostile, or hostile ones. */
function argumentsOf(name, target) {
  if (!Object.hasOwn(right, name) || random.below(4) === 0) {
    if (name === 'advanceTime') return [hostile(), random.below(20_000)]; // a limit is the caller's own timeLimit
    return Array.from({ length: random.below(5) }, hostile);
  }
  const words = right[name]();
  const way = random.below(4);
  if (way === 0 && name !== 'advanceTime') words[random.below(words.length + 1)] = hostile();
  const [options] = words;
  if (
    way > 0 &&
    way < 3 &&
    typeof options === 'object' &&
    options !== null &&
    Object.getPrototypeOf(options) === Object.prototype
  ) {
    const field = random.pick(Object.keys(options));
    if (way === 1) options[field] = hostile();
    else {
      const value = options[field];
      Object.defineProperty(options, field, {
        enumerable: true,
        get: () => (closes(target), random.below(4) > 0 ? value : hostile()),
      });
    }
  }
  return words;
}

/** Methods that a user of the API calls: they are declared, and neither private, protected nor said to be for the library alone. */
function methodsOf(object) {
  const names = new Set();
  const hidden = new Set(['constructor']);
  for (let at = object; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) names.add(key);
    for (const key of privates.get(at.constructor?.name) ?? []) hidden.add(key);
  }
  return [...names].filter((name) => !hidden.has(name));
}

/** Members of classes that are not for users, by class. */
function readPrivates(folder) {
  const found = new Map();
  for (const file of readdirSync(folder, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    let members;
    for (const line of readFileSync(path.join(folder, file), 'utf8').split('\n')) {
      const [, name] = /^export (?:declare )?(?:abstract )?class (\w+)/.exec(line) ?? [];
      if (name !== undefined) found.set(name, (members = new Set(forTheLibrary)));
      const [, member] =
        /^ {4}(?:private|protected) (?:(?:static|readonly|abstract|get|set) )*(\w+)/.exec(line) ?? [];
      if (member !== undefined) members?.add(member);
    }
  }
  return found;
}

/** Judges the error that a call threw, or that a promise was rejected with. */
function judge(call, error) {
  if (error === trap) return;
  const name = error?.constructor?.name === 'DOMException' ? error.name : error?.name;
  const isOwn =
    error instanceof Error && expected.includes(name) && !/Maximum call stack|Assertion/.test(error.message);
  if (!isOwn) faults.push(`${call} threw ${String(error?.stack ?? error)}`);
}

const describe = (value) => {
  try {
    if (typeof value === 'string') return JSON.stringify(value.slice(0, 20));
    if (typeof value !== 'object' || value === null) return String(value).slice(0, 40);
    const { constructor } = Object.getPrototypeOf(value) ?? {};
    return typeof constructor === 'function' ? constructor.name : '?';
  } catch {
    return '?';
  }
};

function perform() {
  const targets = pool.filter(isOfApi);
  const target = random.below(8) === 0 || targets.length === 0 ? undefined : random.pick(targets);
  const [name, callee] =
    target === undefined
      ? random.pick(exported)
      : (() => {
          const methods = methodsOf(target);
          const known = methods.filter((method) => Object.hasOwn(right, method));
          return [random.pick(random.below(3) > 0 && known.length > 0 ? known : methods), undefined];
        })();
  let call = String(name);
  try {
    const words = argumentsOf(String(name), target);
    call = `${target === undefined ? '' : describe(target)}.${String(name)}(${words.map(describe).join(', ')})`;
    writeSync(lastFile, call.padEnd(400).slice(0, 400), 0);
    let result;
    if (callee !== undefined) {
      result =
        /^class\b/.test(Function.prototype.toString.call(callee)) || random.below(10) === 0
          ? new callee(...words)
          : callee(...words);
    } else {
      const member = target[name];
      if (typeof member !== 'function') keep(member);
      else
        result = member.apply(
          ofAddon.includes(target.constructor?.name) && random.below(10) === 0 ? hostile() : target,
          words,
        );
    }
    if (typeof result?.then === 'function') result.then(keep, (error) => judge(call, error));
    if (typeof result?.next === 'function') {
      result.next()?.then?.(keep, (error) => judge(call, error));
      result.return?.()?.then?.(undefined, (error) => judge(call, error));
    }
    keep(result);
    succeeded[String(name)] = (succeeded[String(name)] ?? 0) + 1;
  } catch (error) {
    judge(call, error);
  }
}

process.on('unhandledRejection', (error) => judge('a promise that was not given out', error));
process.on('uncaughtException', (error) => judge('the event loop', error));
/** Objects of most classes, so that there is always something that is open. */
function begin() {
  const made = new board.EmulatedBoard({ ...small });
  const context = verbs.openDevice(made.open(0));
  const domain = context.createProtectionDomain();
  const queue = context.createCompletionQueue({ entries: 16 });
  const both = { sendCompletionQueue: queue, receiveCompletionQueue: queue };
  const queuePair = domain.createQueuePair({ type: 'RC', ...both });
  const address = connect.addressOf(context, queuePair);
  connect.connectQueuePair(queuePair, address, address);
  // Without a receive it asks again for ever.
  if (random.below(2) === 0)
    queuePair.postSend({ opcode: Opcode.send, inlineData: new Uint8Array(8), signaled: true });
  for (const each of [made, context, domain, queue, queuePair, domain.allocate(4096, every), made.open(1)])
    keep(each);
}
for (let step = 0; step < Number(steps) && faults.length === 0; step++) {
  try {
    if (step % stepsOfAWorld === 0) begin();
  } catch (error) {
    faults.push(`a new board: ${String(error?.stack)}`);
  }
  perform();
  if (step % 16 === 15) await new Promise((resolve) => setImmediate(resolve));
}
closeSync(lastFile);
process.stdout.write(JSON.stringify({ faults, succeeded }), () => process.exit(0));
