import { describe, expect, it } from 'vitest';

import type { KickRecord } from '../../lib/driver/kick_records.ts';
import type { QueuePair } from '../../lib/driver/queue_pair.ts';
import { KICK_RECORD_BYTES, Opcode } from '../../lib/spec/index.ts';
import { CommandBench } from '../helpers/command_bench.ts';

/** Writes a command with this many bytes of payload; returns the records of it. */
function post(bench: CommandBench, queuePair: QueuePair, bytes: number): KickRecord[] {
  bench.writeWhole(bench.encode(queuePair, { opcode: Opcode.send, inlineData: new Uint8Array(bytes) }));
  return bench.settle();
}

// A record goes to the line requested for it; if that memory fails or is freed, no record is written.
describe.each([0, 48, 96])('a ring of kick records, commands with %d B of payload', (bytes) => {
  it('is turned off if a DMA to it fails', () => {
    const bench = new CommandBench();
    const queuePair = bench.makeQueuePair();
    const { address } = bench.records.ring;
    expect(post(bench, queuePair, bytes)).toHaveLength(2);
    bench.board.inject({ kind: 'fault_dma', begin: Number(address), end: Number(address) + 4096 });
    expect(post(bench, queuePair, bytes)).toEqual([]);
    bench.board.clearFaults();
    expect(post(bench, queuePair, bytes)).toEqual([]);
    expect(bench.events()).toMatchObject([
      { name: 'dmaFault', detail: address + BigInt(2 * KICK_RECORD_BYTES) },
    ]);
    expect(bench.register('dma_faults')).toBe(1n);
    expect(bench.register('kick_records_dropped')).toBe(1n);
    expect(bench.buffersInUse()).toBe(0);
  });

  it('is not written if its memory is freed between two writes of a command', () => {
    const bench = new CommandBench();
    const queuePair = bench.makeQueuePair();
    const { ring } = bench.records;
    const { address } = ring;
    const command = bench.encode(queuePair, { opcode: Opcode.send, inlineData: new Uint8Array(bytes) });
    const lines = Array.from({ length: Math.ceil(command.bytes.length / 64) }, (_, line) => line * 64);
    const first = lines.shift()!;
    const begin = command.bytes.subarray(first, first + 64);
    // its length is known, so the last line may complete it
    bench.write(command.offset, begin.subarray(0, 8));
    for (const at of lines.reverse()) bench.write(command.offset + at, command.bytes.subarray(at, at + 64));
    bench.board.runUntilIdle();
    bench.driver.device.free(ring);
    bench.write(command.offset + 8, begin.subarray(8));
    bench.board.runUntilIdle();
    expect(bench.register('kicks')).toBe(1n);
    expect(bench.register('kick_records_written')).toBe(0n);
    expect(bench.events()).toMatchObject([{ name: 'dmaFault', detail: address }]);
  });
});
