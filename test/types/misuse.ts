// Never runs: the line after each directive must not compile, otherwise the compiler rejects the directive.
// types.test.ts runs the compiler.
import {
  Context,
  Opcode,
  QueuePairState,
  RemoteMemory,
  type Completion,
  type CompletionQueue,
  type MemoryRegion,
  type ProtectionDomain,
  type QueuePair,
  type VerbsError,
} from 'fpga-verbs';
import { EmulatedBoard } from 'fpga-verbs/board';
import { Connection } from 'fpga-verbs/connect';

export function devices(context: Context, board: EmulatedBoard): void {
  // @ts-expect-error a port is a number
  context.queryPort('1');
  // @ts-expect-error options are an object
  context.createCompletionQueue(64);
  // @ts-expect-error there is no such option
  context.createCompletionQueue({ size: 64 });
  // @ts-expect-error a size is a number, not a bigint
  context.createCompletionQueue({ entries: 64n });
  // @ts-expect-error a device string is no token
  Context.from('emu:');
  // @ts-expect-error the facts of a device are read-only
  context.queryDevice().limits.queuePairs = 5;
  // @ts-expect-error a board has no such option
  void new EmulatedBoard({ progres: 'own' });
  // @ts-expect-error a board advances in one of three ways
  void new EmulatedBoard({ progress: 'fast' });
  // @ts-expect-error there is no such fault
  board.inject({ kind: 'explode' });
}

export function memory(protectionDomain: ProtectionDomain, region: MemoryRegion): void {
  // @ts-expect-error memory is binary
  protectionDomain.registerMemory('text');
  // @ts-expect-error an array of numbers is not memory
  protectionDomain.registerMemory([1, 2, 3]);
  // @ts-expect-error rights are numbers joined by |
  protectionDomain.allocate(64, ['localWrite']);
  // @ts-expect-error rights are not names
  protectionDomain.allocate(64, 'localWrite');
  // @ts-expect-error a size is a number
  protectionDomain.allocate(64n);
  // @ts-expect-error a region does not change its length
  region.length = 128;
  // @ts-expect-error an offset is a number
  region.slice(0n, 8);
  // @ts-expect-error a slice is read-only
  region.slice().length = 4;
  // @ts-expect-error memory of the peer has a key
  void new RemoteMemory({ address: 0n, length: 64 });
  // @ts-expect-error an address is a number or a bigint
  void new RemoteMemory({ address: '0x1000', key: 1, length: 64 });
}

export function queuePairs(
  protectionDomain: ProtectionDomain,
  completionQueue: CompletionQueue,
  queuePair: QueuePair,
): void {
  // @ts-expect-error a queue pair has two completion queues
  protectionDomain.createQueuePair({ type: 'RC', sendCompletionQueue: completionQueue });
  protectionDomain.createQueuePair({
    // @ts-expect-error reliable datagram is not a service of the API
    type: 'RD',
    sendCompletionQueue: completionQueue,
    receiveCompletionQueue: completionQueue,
  });
  // @ts-expect-error a state is one of the enumeration's, not its name
  queuePair.modify({ state: 'init' });
  // @ts-expect-error there is no such attribute
  queuePair.modify({ state: QueuePairState.init, portNumber: 1 });
  // @ts-expect-error a MTU is one of the enumeration's, not bytes
  queuePair.modify({ pathMtu: 1024 });
  // @ts-expect-error the device chooses the number
  queuePair.number = 5;
}

export function posting(queuePair: QueuePair, region: MemoryRegion): void {
  const gather = [region.slice()];
  const remote = region.remote();
  // @ts-expect-error a work request has an operation
  queuePair.postSend({ gather });
  // @ts-expect-error an operation is one of the enumeration's, not its name
  queuePair.postSend({ opcode: 'send', gather });
  // @ts-expect-error a gather list has slices, not regions
  queuePair.postSend({ opcode: Opcode.send, gather: [region] });
  // @ts-expect-error a gather list is a list
  queuePair.postSend({ opcode: Opcode.send, gather: region.slice() });
  // @ts-expect-error inline data is bytes
  queuePair.postSend({ opcode: Opcode.send, inlineData: 'text' });
  // @ts-expect-error memory of the peer is RemoteMemory, not a slice
  queuePair.postSend({ opcode: Opcode.rdmaWrite, gather, remote: region.slice() });
  // @ts-expect-error operands of atomics are bigint
  queuePair.postSend({ opcode: Opcode.atomicFetchAndAdd, gather, remote, compareAdd: 1 });
  // @ts-expect-error identifiers are numbers or bigint
  queuePair.postSend({ opcode: Opcode.send, gather, wrId: 'first' });
  // @ts-expect-error receives scatter
  queuePair.postReceive({ gather });
  // @ts-expect-error posting returns nothing to wait for
  const sent: Promise<void> = queuePair.postSend({ opcode: Opcode.send });
  void sent;
}

export async function completing(completionQueue: CompletionQueue, completion: Completion): Promise<void> {
  // @ts-expect-error polling fills the caller's objects: a list of them
  completionQueue.poll(completion);
  // @ts-expect-error polling fills objects, it does not create them
  completionQueue.poll(16);
  // @ts-expect-error a limit is milliseconds
  await completionQueue.wait({ timeout: '1s' });
  // @ts-expect-error a signal, not its controller
  await completionQueue.wait({ signal: new AbortController() });
  // @ts-expect-error the identifier comes from the work request
  completion.wrId = 5;
  // @ts-expect-error it is exact, and so a bigint
  const exact: number = completion.wrIdBig;
  void exact;
}

export async function connecting(
  connection: Connection,
  region: MemoryRegion,
  error: VerbsError,
): Promise<void> {
  // @ts-expect-error data is memory, not text
  await connection.send('text');
  // @ts-expect-error received data goes to a slice, not to a region
  await connection.receive(region);
  // @ts-expect-error a write needs a destination
  await connection.write(region.slice());
  // @ts-expect-error atomics take bigint
  await connection.fetchAndAdd(region.remote(), 1);
  // @ts-expect-error an address is an object
  connection.connect('fe80::1');
  // @ts-expect-error codes are names, not numbers
  const code: number = error.code;
  void code;
}
