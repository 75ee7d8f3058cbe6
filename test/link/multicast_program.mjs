// One of two processes that are members of a multicast group, each on its own board: `listens` answers the datagrams that it receives in
// the group, `asks` sends until it has received the answer.
const library = (name) => import(new URL(`../../dist/lib/${name}.js`, import.meta.url).href);
const { Access, Completion, CompletionError, CompletionStatus, Opcode, QueuePairState, openDevice } =
  await library('index');

const [device, group, role] = process.argv.slice(2);
const everyone = 0xff_ffff;
const queueKey = 0x1111_1111;
const routeBytes = 40;
const slotBytes = 64;
const [question, answer] = [1, 2];

const context = openDevice(device);
const domain = context.createProtectionDomain();
const queue = context.createCompletionQueue({ entries: 64 });
const queuePair = domain.createQueuePair({
  type: 'UD',
  sendCompletionQueue: queue,
  receiveCompletionQueue: queue,
  capabilities: { maxInlineData: 64 },
});
queuePair.modify({ state: QueuePairState.init, partitionKeyIndex: 0, port: 1, queueKey });
queuePair.modify({ state: QueuePairState.readyToReceive });
queuePair.modify({ state: QueuePairState.readyToSend, sendPsn: 0 });
const destinationGid = Buffer.from(group, 'hex');
queuePair.attachMulticast(destinationGid);
const memory = domain.allocate(32 * slotBytes, Access.localWrite);
for (let wrId = 0; wrId < 32; wrId++) listen(wrId);
const addressHandle = domain.createAddressHandle({
  port: 1,
  isGlobal: true,
  hopLimit: 1,
  gidIndex: 0,
  destinationGid,
});

if (role === 'listens') {
  while (!(await heard(question, 60_000)));
  say(answer);
} else {
  do say(question);
  while (!(await heard(answer, 200)));
}
console.log(`${role}, and has heard`);
context[Symbol.dispose]();

function listen(wrId) {
  queuePair.postReceive({ wrId, scatter: [memory.slice(wrId * slotBytes, slotBytes)] });
}

function say(what) {
  const inlineData = Uint8Array.of(what);
  queuePair.postSend({
    opcode: Opcode.send,
    inlineData,
    addressHandle,
    destinationQueuePair: everyone,
    queueKey,
  });
}

/** Whether this datagram arrives before the deadline; the board's own datagrams come back too. */
async function heard(what, timeout) {
  const completion = new Completion();
  for (;;) {
    try {
      await queue.wait({ timeout });
    } catch (error) {
      if (error.name === 'TimeoutError') return false;
      throw error;
    }
    let isHeard = false;
    while (queue.poll([completion]) === 1) {
      if (completion.status !== CompletionStatus.success) throw new CompletionError(completion);
      isHeard ||= memory.bytes[completion.wrId * slotBytes + routeBytes] === what;
      listen(completion.wrId);
    }
    if (isHeard) return true;
  }
}
