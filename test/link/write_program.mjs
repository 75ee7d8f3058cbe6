// One of two processes between which memory is written over a link: the one with `listens` waits, the other begins. The latter writes the
// given number of bytes by RDMA WRITEs with immediate data to the other's memory, which compares each and confirms it by a SEND.
const library = (name) => import(new URL(`../../dist/lib/${name}.js`, import.meta.url).href);
const { Access, Completion, CompletionError, CompletionStatus, Opcode, RemoteMemory, openDevice } =
  await library('index');
const { addressOf, connectQueuePair } = await library('connect/index');
const { markable, meetPeer } = await library('cli/pingpong_peer');
const { Scope } = await library('cli/scope');

const [device, port, total, host] = process.argv.slice(2);
const chunk = 2 ** 22;
const chunks = Number(total) / chunk;
const noteBytes = 64;
/** Completions of each work queue that were polled but not consumed yet. */
const waiting = [[], []];
const signal = AbortSignal.timeout(300_000);

const context = openDevice(device);
const domain = context.createProtectionDomain();
const queue = context.createCompletionQueue({ entries: 64 });
const queuePair = domain.createQueuePair({
  type: 'RC',
  sendCompletionQueue: queue,
  receiveCompletionQueue: queue,
});
const memory = domain.allocate(chunk, Access.localWrite | Access.remoteWrite);
const notes = domain.allocate(2 * noteBytes, Access.localWrite);
const [told, heard] = [notes.slice(0, noteBytes), notes.slice(noteBytes, noteBytes)];

const local = markable(addressOf(context, queuePair));
const end = {
  context,
  addresses: [local],
  connect: ([remote]) => {
    connectQueuePair(queuePair, local, remote, { timeout: 13 });
    queuePair.postReceive({ scatter: [heard] });
  },
};
const place = { port: Number(port), timeout: 300, ...(host && { host }) };
await Scope.run(signal, async (scope) => {
  scope.use(context);
  const settings = { measured: 'writes', bytes: Number(total) };
  const { play } = await meetPeer(
    { place, deviceString: device, settings, port: 1, told: 1 },
    scope,
    () => end,
  );
  await play(() => (host === undefined ? receive() : write()));
});

async function receive() {
  const name = { address: memory.address.toString(), key: memory.remoteKey, length: chunk };
  await tell(JSON.stringify(name));
  for (let index = 0; index < chunks; index++) {
    const { immediateData } = await next(1);
    queuePair.postReceive({ scatter: [heard] });
    if (immediateData !== index) throw new Error(`${immediateData} comes for ${index}`);
    if (Buffer.compare(memory.bytes, dataOf(index)) !== 0) throw new Error(`the data of ${index} is wrong`);
    await tell('right');
  }
  console.log(`${chunks * chunk} B written, all right`);
}

async function write() {
  await next(1);
  const { address, ...name } = JSON.parse(textOf(notes.bytes.subarray(noteBytes)));
  const remote = new RemoteMemory({ ...name, address: BigInt(address) });
  for (let index = 0; index < chunks; index++) {
    queuePair.postReceive({ scatter: [heard] });
    memory.bytes.set(dataOf(index));
    queuePair.postSend({
      opcode: Opcode.rdmaWriteWithImmediate,
      gather: [memory.slice()],
      remote,
      immediateData: index,
      signaled: true,
    });
    await next(0);
    await next(1);
  }
}

async function tell(text) {
  notes.bytes.fill(0, 0, noteBytes).set(Buffer.from(text));
  queuePair.postSend({ opcode: Opcode.send, gather: [told], signaled: true });
  await next(0);
}

/** The next completion of a work queue. */
async function next(workQueue) {
  for (let idle = 0; ; idle++) {
    const found = waiting[workQueue].shift();
    if (found !== undefined) return found;
    const completion = new Completion();
    if (queue.poll([completion]) === 0) {
      if (idle % 1024 === 1023) await new Promise(setImmediate);
      signal.throwIfAborted();
      continue;
    }
    if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
    waiting[completion.workQueue].push(completion);
  }
}

/** Distinct data for each chunk. */
function dataOf(index) {
  const period = 4099; // not a multiple of the packet size
  return Buffer.alloc(
    chunk,
    Uint8Array.from({ length: period }, (_, at) => (at * 7 + (at >> 8) * 13 + index) & 0xff),
  );
}

function textOf(bytes) {
  return Buffer.from(bytes.subarray(0, bytes.indexOf(0))).toString();
}
