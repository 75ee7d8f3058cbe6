import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { EmulatedFabric } from '../../lib/board/index.ts';
import { addressOf, connectQueuePair } from '../../lib/connect/index.ts';
import { Opcode, openDevice, type Context } from '../../lib/index.ts';
import { PacketOpcode } from '../../lib/spec/index.ts';
import { quoted, read, root, rowsOf } from '../helpers/documents.ts';

const text = read('docs/life-of-a-send.md');

describe('the names in the document exist', () => {
  const places = [...new Set(quoted(text).filter((code) => /^[\w/]+\.(ts|cpp):\w+$/.test(code)))];

  it('as path:function', () => {
    expect(places.length).toBeGreaterThan(40);
    const others = quoted(text).filter((code) => /^(lib|native)\//.test(code) && !places.includes(code));
    expect(others).toEqual([]);
  });

  it.each(places)('%s', (place) => {
    const [file, name] = place.split(':') as [string, string];
    expect(existsSync(path.join(root, file)), file).toBe(true);
    // The definition begins its line: a method, or a function of the file or of a class.
    const definition = file.endsWith('.ts')
      ? new RegExp(`^ *(export |private |protected |static |async |function )*${name}\\(`, 'm')
      : new RegExp(`^[A-Za-z_][^;=(]*[ :]${name}\\(`, 'm');
    expect(definition.test(read(file)), `a definition of ${name}`).toBe(true);
  });
});

/** BTH behind Ethernet, IPv6 and UDP. */
const transportHeaderAt = 14 + 40 + 8;

it('the writes and packets match a real SEND', () => {
  const fabric = new EmulatedFabric();
  onTestFinished(() => fabric.close());
  const boards = ['A', 'B'].map((name) => ({ name, board: fabric.makeBoard({ progress: 'stepped' }) }));
  const [a, b] = boards.map(({ board }) => makeEnd(openDevice(board.open()))) as [End, End];
  connectQueuePair(a.queuePair, a.address, b.address);
  connectQueuePair(b.queuePair, b.address, a.address);
  b.queuePair.postReceive({ scatter: [b.memory.slice()] });
  for (const { board } of boards) {
    board.startRecording();
    board.startPacketTrace();
  }
  a.queuePair.postSend({ opcode: Opcode.send, gather: [a.memory.slice(0, 64)], signaled: true });
  boards[0]!.board.runUntilIdle();
  const seen = boards.flatMap(({ name, board }) => [
    ...board.stopRecording().transactions.map(({ time, offset, data }) => ({
      time,
      row: [name, `write of ${data.length} B at VCB + 0x${(offset % 4096).toString(16)}`],
    })),
    ...board.stopPacketTrace().map(({ time, direction, data }) => ({
      time,
      row: [name, `packet of ${data.length} B ${direction}: ${nameOf(data[transportHeaderAt]!)}`],
    })),
  ]);
  const told = rowsOf(text, 'One such SEND')
    .map(([, board, what]) => [board, what])
    .filter(([, what]) => /^(write|packet) of/.test(what!));
  expect(seen.sort((one, other) => Number(one.time - other.time)).map(({ row }) => row)).toEqual(told);
});

type End = ReturnType<typeof makeEnd>;

function makeEnd(context: Context) {
  const protectionDomain = context.createProtectionDomain();
  const completionQueue = context.createCompletionQueue();
  const queues = { sendCompletionQueue: completionQueue, receiveCompletionQueue: completionQueue };
  const queuePair = protectionDomain.createQueuePair({ type: 'RC', ...queues });
  return { queuePair, memory: protectionDomain.allocate(4096), address: addressOf(context, queuePair) };
}

/** Opcode of a BTH, as the document writes it. */
function nameOf(opcode: number): string | undefined {
  const names: Readonly<Record<number, string>> = {
    [PacketOpcode.reliableConnectionSendOnly]: 'SEND Only',
    [PacketOpcode.reliableConnectionAcknowledge]: 'Acknowledge',
  };
  return names[opcode];
}
