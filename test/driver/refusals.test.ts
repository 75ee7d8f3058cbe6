import { describe, expect, it } from 'vitest';

import { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { UnansweredQueuePair } from '../../lib/cli/unanswered_queue_pair.ts';
import { blockNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { Opcode, Refusal, VirtualCollectBufferState, encode } from '../../lib/spec/index.ts';
import { closing } from '../helpers/backends.ts';
import { CommandBench, sentBy, type WrittenCommand } from '../helpers/command_bench.ts';

const payload = new Uint8Array(32).fill(1);

/** Segment 0 of a command with other fields. */
function segment0(fields: Readonly<Record<string, number>>): Uint8Array {
  return encode('command_header', { opcode: Opcode.send, version: 1, ...fields }).slice(0, 8);
}

interface Case {
  readonly name: string;
  readonly refusal: Refusal;
  /** Performs the refused write. */
  readonly write: (bench: CommandBench, command: WrittenCommand, queuePairNumber: number) => void;
  /** Offset of the refused write in the page. */
  readonly offset: number;
}

const header = (fields: Readonly<Record<string, number>>): Case['write'] => {
  return (bench, { offset }, number) =>
    bench.write(offset, segment0({ queue_pair_number: number, ...fields }));
};

const cases: readonly Case[] = [
  {
    name: 'a length over 256 B',
    refusal: Refusal.lengthOverMaximum,
    write: header({ length: 257 }),
    offset: 0,
  },
  { name: 'an unknown version', refusal: Refusal.unknownVersion, write: header({ version: 2 }), offset: 0 },
  {
    name: 'an unknown queue pair',
    refusal: Refusal.unknownQueuePair,
    write: header({ queue_pair_number: 0xabcd }),
    offset: 0,
  },
  {
    name: "another level than the queue pair's",
    refusal: Refusal.wrongQualityOfServiceLevel,
    write: header({ quality_of_service_level: 1 }),
    offset: 0,
  },
  {
    name: 'a segment beyond the length that came before it',
    refusal: Refusal.segmentBeyondLength,
    write: (bench, { offset, bytes }) => {
      bench.write(offset + 0x60, bytes.subarray(0, 8));
      bench.write(offset, bytes.subarray(0, 8));
    },
    offset: 0,
  },
  {
    name: 'a segment beyond the length that came after it',
    refusal: Refusal.segmentBeyondLength,
    write: (bench, { offset, bytes }) => {
      bench.write(offset, bytes.subarray(0, 8));
      bench.write(offset + 0x60, bytes.subarray(0, 8));
    },
    offset: 0x60,
  },
  {
    name: 'a write beyond 320 B',
    refusal: Refusal.writeBeyondCommand,
    write: (bench, { offset, bytes }) => bench.write(offset + 320, bytes.subarray(0, 8)),
    offset: 320,
  },
  {
    name: 'part of a DWORD',
    refusal: Refusal.partialDoubleWord,
    write: (bench, { offset, bytes }) => bench.write(offset + 8, bytes.subarray(0, 8), 0x7fn),
    offset: 8,
  },
  {
    name: 'a checksum that does not match',
    refusal: Refusal.checksumMismatch,
    write: (bench, { offset, bytes }) => {
      const damaged = Uint8Array.from(bytes);
      damaged[70]! ^= 4;
      bench.writeWhole({ offset, bytes: damaged });
    },
    offset: 64,
  },
];

describe.each(['masked', 'direct'] as const)('refused writes, scoreboard variant %s', (scoreboardVariant) => {
  it.each(cases)('$name', ({ refusal, write, offset }) => {
    const bench = new CommandBench({ scoreboardVariant });
    const queuePair = bench.makeQueuePair();
    const buffer = queuePair.virtualCollectBuffer;
    const command = bench.encode(queuePair, { opcode: Opcode.send, inlineData: payload, checksum: true });
    bench.settle();
    bench.events();
    write(bench, command, queuePair.number);
    expect(bench.settle()).toEqual([]);
    expect(bench.inspect(buffer)).toMatchObject({ state: VirtualCollectBufferState.error, refusal });
    expect(bench.buffersInUse()).toBe(0);
    // The VCB stays in error, and raises no further event, until it is cancelled.
    const dropped = bench.register('writes_dropped');
    bench.writeWhole(command);
    expect(bench.register('writes_dropped')).toBe(dropped + 2n);
    expect(bench.settle()).toEqual([]);
    buffer.cancel();
    expect(bench.inspect(buffer).state).toBe(VirtualCollectBufferState.free);
    bench.writeWhole(command);
    expect(sentBy(queuePair, bench.settle())).toEqual([0]);
    expect(bench.buffersInUse()).toBe(0);
    expect(bench.events()).toMatchObject([
      { name: 'virtualCollectBufferError', object: buffer.number, reason: refusal, offset },
    ]);
  });

  it.each(cases)('$name: the driver gets the event and makes the device fetch the command', ({ write }) => {
    const bench = new CommandBench({ scoreboardVariant });
    const queuePair = bench.makeQueuePair();
    const command = bench.encode(queuePair, { opcode: Opcode.send, inlineData: payload, checksum: true });
    write(bench, command, queuePair.number);
    expect(bench.settle()).toEqual([]);
    expect(bench.events()).toHaveLength(1);
    expect(sentBy(queuePair, bench.settle())).toEqual([0]);
    expect(bench.inspect(queuePair.virtualCollectBuffer).state).toBe(VirtualCollectBufferState.free);
    expect(bench.events()).toEqual([]);
  });
});

describe('an incomplete command', () => {
  it('is dropped by a cancel, without residue', () => {
    const bench = new CommandBench();
    const queuePair = bench.makeQueuePair();
    const command = bench.encode(queuePair, { opcode: Opcode.send, inlineData: payload });
    for (let times = 0; times < 100; times++) {
      bench.write(command.offset + 8, command.bytes.subarray(8, 64));
      expect(bench.buffersInUse()).toBe(1);
      queuePair.virtualCollectBuffer.cancel();
      expect(bench.buffersInUse()).toBe(0);
    }
    bench.writeWhole(command);
    expect(sentBy(queuePair, bench.settle())).toEqual([0]);
    expect(bench.register('commands_cancelled')).toBe(100n);
  });

  it('raises one event when it is older than the limit, and can still be completed', () => {
    const bench = new CommandBench();
    const limit = registerNamed(blockNamed('control'), 'half_written_limit').offset;
    bench.driver.device.controlPage!.write64(limit, 1000n);
    const queuePair = bench.makeQueuePair();
    const command = bench.encode(queuePair, { opcode: Opcode.send, inlineData: payload });
    bench.write(command.offset, command.bytes.subarray(0, 64));
    bench.settle();
    bench.board.advanceTime(900);
    bench.settle();
    expect(bench.events()).toEqual([]);
    bench.board.advanceTime(10_000);
    bench.settle();
    expect(bench.events()).toMatchObject([
      { name: 'halfWrittenCommand', object: queuePair.virtualCollectBuffer.number },
    ]);
    bench.write(command.offset + 64, command.bytes.subarray(64));
    expect(sentBy(queuePair, bench.settle())).toEqual([0]);
  });

  it('is dropped by a function reset, while others continue', () => {
    const bench = new CommandBench();
    const guest = closing(new HcaDriver(bench.board.open(1)));
    const { queuePair } = new UnansweredQueuePair(guest, { entries: 4, gatherEntries: 0, inlineBytes: 64 });
    const ours = bench.makeQueuePair();
    bench.board.post({
      underlyingFunction: 1,
      bar: 2,
      offset: queuePair.virtualCollectBuffer.offset + 8,
      data: payload,
    });
    bench.register('kicks');
    expect(bench.buffersInUse()).toBe(1);
    guest.close();
    expect(bench.buffersInUse()).toBe(0);
    bench.writeWhole(bench.encode(ours, { opcode: Opcode.send }));
    expect(sentBy(ours, bench.settle())).toEqual([0]);
  });
});

describe("another function's", () => {
  it('virtual collect buffers drop and count writes through this BAR', () => {
    const bench = new CommandBench();
    const guest = closing(new HcaDriver(bench.board.open(1)));
    const { queuePair } = new UnansweredQueuePair(guest, { entries: 4, gatherEntries: 0, inlineBytes: 64 });
    const before = bench.register('writes_unclaimed', 'control');
    const bytes = segment0({ queue_pair_number: queuePair.number });
    bench.write(queuePair.virtualCollectBuffer.offset, bytes);
    expect(bench.register('writes_unclaimed', 'control')).toBe(before + 1n);
    expect(bench.buffersInUse()).toBe(0);
    expect(bench.inspect(queuePair.virtualCollectBuffer).state).toBe(VirtualCollectBufferState.free);
  });

  it('queue pairs are unknown here', () => {
    const bench = new CommandBench();
    const guest = closing(new HcaDriver(bench.board.open(1)));
    const { queuePair } = new UnansweredQueuePair(guest, { entries: 4, gatherEntries: 0, inlineBytes: 64 });
    const ours = bench.makeQueuePair();
    bench.write(ours.virtualCollectBuffer.offset, segment0({ queue_pair_number: queuePair.number }));
    bench.settle();
    expect(bench.inspect(ours.virtualCollectBuffer)).toMatchObject({
      state: VirtualCollectBufferState.error,
      refusal: Refusal.unknownQueuePair,
    });
  });

  it('register pages read all ones, and drop writes', () => {
    const bench = new CommandBench();
    const [region] = bench.driver.device.regions.all.filter(({ pages }) => pages === 8);
    const at = region!.offset + region!.pageStride;
    const { board } = bench.driver.device;
    expect(board.read32(region!.bar, at)).toBe(0xffff_ffff);
    const before = bench.board.counters().writesUnsupported;
    board.write32(region!.bar, at + 4, 1);
    expect(bench.register('kicks')).toBe(0n);
    expect(bench.board.counters().writesUnsupported).toBe(before + 1);
  });
});
