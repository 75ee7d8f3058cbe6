// Remote procedure calls over SEND: one server, three clients, and a shared receive queue at the server, so that requests of all clients
// take receives from one place. A reply goes to the queue pair that its request came by.
//
// Run it: node dist/examples/rpc.js
import {
  Completion,
  CompletionStatus,
  Opcode,
  openDevice,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type QueuePair,
} from 'fpga-verbs';
import { EmulatedFabric } from 'fpga-verbs/board';
import { addressOf, connectQueuePair } from 'fpga-verbs/connect';

const clients = 3;
const callsOfClient = 4;
const receives = 8;
const messageBytes = 64;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Polls until a completion is there. @throws Error a work request has failed */
async function next(queue: CompletionQueue): Promise<Completion> {
  const completion = new Completion();
  while (queue.poll([completion]) === 0) await new Promise(setImmediate);
  if (completion.status !== CompletionStatus.success) throw new Error(`failed: status ${completion.status}`);
  return completion;
}

/** Slot number `slot` of a memory that is divided into messages. */
const slotOf = (memory: MemoryRegion, slot: number) => memory.slice(slot * messageBytes, messageBytes);
const textIn = ({ bytes }: MemoryRegion, slot: number, length: number) =>
  decoder.decode(bytes.slice(slot * messageBytes, slot * messageBytes + length));

/** Answers calls: `WORD` comes back in capital letters. */
class Server {
  readonly queuePairs: QueuePair[];
  private readonly queue: CompletionQueue;
  private readonly memory: MemoryRegion;
  private readonly shared;

  constructor(device: Context) {
    const domain = device.createProtectionDomain();
    this.queue = device.createCompletionQueue({ entries: 64 });
    this.shared = domain.createSharedReceiveQueue({ maxWorkRequests: receives });
    this.memory = domain.allocate(receives * messageBytes);
    this.queuePairs = Array.from({ length: clients }, () =>
      domain.createQueuePair({
        type: 'RC',
        sendCompletionQueue: this.queue,
        receiveCompletionQueue: this.queue,
        sharedReceiveQueue: this.shared,
        capabilities: { maxInlineData: messageBytes },
      }),
    );
    for (let slot = 0; slot < receives; slot++) this.receive(slot);
  }

  async answer(calls: number): Promise<void> {
    for (let call = 0; call < calls; call++) {
      const { wrId: slot, byteLength, queuePairNumber } = await next(this.queue);
      const queuePair = this.queuePairs.find(({ number }) => number === queuePairNumber)!;
      const inlineData = encoder.encode(textIn(this.memory, slot, byteLength).toUpperCase());
      this.receive(slot); // the place is free: the request was read
      queuePair.postSend({ wrId: slot, opcode: Opcode.send, inlineData });
    }
  }

  private receive(slot: number): void {
    this.shared.postReceive({ wrId: slot, scatter: [slotOf(this.memory, slot)] });
  }
}

class Client {
  readonly queuePair: QueuePair;
  private readonly queue: CompletionQueue;
  private readonly memory: MemoryRegion;

  constructor(device: Context) {
    const domain = device.createProtectionDomain();
    this.queue = device.createCompletionQueue({ entries: 16 });
    this.memory = domain.allocate(messageBytes);
    this.queuePair = domain.createQueuePair({
      type: 'RC',
      sendCompletionQueue: this.queue,
      receiveCompletionQueue: this.queue,
      capabilities: { maxInlineData: messageBytes },
    });
  }

  /** The receive for the reply is posted before the request, so that the reply finds it. */
  async call(word: string): Promise<string> {
    this.queuePair.postReceive({ wrId: 1, scatter: [slotOf(this.memory, 0)] });
    this.queuePair.postSend({ wrId: 2, opcode: Opcode.send, inlineData: encoder.encode(word) });
    const { byteLength } = await next(this.queue);
    return textIn(this.memory, 0, byteLength);
  }
}

using fabric = new EmulatedFabric();
const serverDevice = openDevice(fabric.makeBoard().open());
const server = new Server(serverDevice);
const callers = server.queuePairs.map((queuePair) => {
  const device = openDevice(fabric.makeBoard().open());
  const client = new Client(device);
  const [here, there] = [addressOf(device, client.queuePair), addressOf(serverDevice, queuePair)];
  connectQueuePair(client.queuePair, here, there);
  connectQueuePair(queuePair, there, here);
  return client;
});

const served = server.answer(clients * callsOfClient);
const replies = await Promise.all(
  callers.map(async (client, number) => {
    const words: string[] = [];
    for (let call = 0; call < callsOfClient; call++)
      words.push(await client.call(`client ${number}, call ${call}`));
    return words;
  }),
);
await served;
for (const words of replies) console.log(`${words.length} replies, the last: ${words.at(-1)}`);
