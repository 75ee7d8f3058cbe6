// Connects queue pairs of two boards again and again, with traffic, and disconnects them in several ways. Prints the resources of the
// process after the first fifth and at the end, and each unexpected result. The tables of the boards have few entries.
import { holdings } from './holdings.mjs';

const library = (name) => import(new URL(`../../dist/lib/${name}.js`, import.meta.url).href);
const { Access, Completion, CompletionStatus, Opcode, QueuePairState, openDevice } = await library('index');
const { EmulatedFabric } = await library('board/index');
const { addressOf, connectQueuePair } = await library('connect/index');
const { blockNamed, registerNamed } = await library('driver/named_registers');

const bytes = 3000;
const rights = Access.localWrite | Access.remoteWrite;
const wrong = new Set();
const fabric = new EmulatedFabric();
const options = {
  progress: 'stepped',
  queuePairs: 8,
  pageTableEntries: 256,
  memoryKeys: 16,
  completionQueues: 8,
};
const boards = [fabric.makeBoard(options), fabric.makeBoard(options)];
const contexts = boards.map((board) => openDevice(board.open(0)));
// Numbers of former connections are soon free again, because the boards have few.
const { offset: timeWait } = registerNamed(blockNamed('control'), 'time_wait');
for (const context of contexts) context.driver.device.controlPage.write32(timeWait, 1);
const domains = contexts.map((context) => context.createProtectionDomain());
const queues = contexts.map((context) => context.createCompletionQueue({ entries: 64 }));
const completions = Array.from({ length: 8 }, () => new Completion());

function makeEnd(board) {
  const queuePair = domains[board].createQueuePair({
    type: 'RC',
    sendCompletionQueue: queues[board],
    receiveCompletionQueue: queues[board],
    capabilities: { maxSendWorkRequests: 8, maxReceiveWorkRequests: 8 },
  });
  return { queuePair, region: domains[board].allocate(bytes, rights) };
}

/** The type of connection `index`: connect only; a SEND and an RDMA WRITE; disconnect with nothing in flight, or with both. */
function connect(index) {
  const [from, to] = [makeEnd(0), makeEnd(1)];
  const addresses = [addressOf(contexts[0], from.queuePair), addressOf(contexts[1], to.queuePair)];
  connectQueuePair(from.queuePair, addresses[0], addresses[1]);
  connectQueuePair(to.queuePair, addresses[1], addresses[0]);
  from.region.bytes.fill(1 + (index % 255));
  to.queuePair.postReceive({ scatter: [to.region.slice()] });
  const gather = [from.region.slice()];
  from.queuePair.postSend([
    { opcode: Opcode.send, gather, signaled: true },
    { opcode: Opcode.rdmaWrite, gather, remote: to.region.remote(), signaled: true },
  ]);
  if (index % 3 === 0) {
    boards[0].step(index % 500);
    const end = index % 2 === 0 ? from : to;
    end.queuePair.modify({ state: index % 4 < 2 ? QueuePairState.error : QueuePairState.reset });
  } else {
    boards[0].runUntilIdle();
    const [sent, received] = [poll(0), poll(1)];
    if (sent.length !== 2 || received.length !== 1 || [...sent, ...received].some(isFailed))
      wrong.add(`connection ${index}: ${[...sent, ...received]}`);
    if (to.region.bytes.some((byte) => byte !== 1 + (index % 255))) wrong.add(`connection ${index}: data`);
  }
  for (const { queuePair, region } of [from, to]) {
    queuePair.close();
    region.close();
  }
  boards[0].runUntilIdle();
  poll(0);
  poll(1);
}

const isFailed = (status) => status !== CompletionStatus.success;

/** The statuses of the completions on a board. */
function poll(board) {
  return completions.slice(0, queues[board].poll(completions)).map(({ status }) => status);
}

async function run(begin, end) {
  for (let index = begin; index < end; index++) {
    connect(index);
    if (index % 50 !== 0) continue;
    await new Promise(setImmediate);
    for (const board of boards) if (board.verify(true) !== undefined) wrong.add(board.verify(true));
  }
}

const times = Number(process.argv[2]);
await run(0, times / 5); // until the runtime has allocated what it needs
const early = await holdings();
await run(times / 5, times);
process.stdout.write(JSON.stringify({ early, late: await holdings(), wrong: [...wrong] }));
