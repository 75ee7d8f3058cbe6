import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import type {
  BoardOptions,
  DoorbellProbe,
  DoorbellProbeRun,
  DoorbellProbeSetup,
  EmulatedBoard,
} from '../../lib/board/addon.ts';
import { doorbellProbeSetup } from '../../lib/cli/doorbell_probe_setup.ts';
import { LoopedQueuePair } from '../../lib/cli/looped_queue_pair.ts';
import type { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { Context } from '../../lib/index.ts';
import { KickRecordRing } from '../../lib/driver/kick_records.ts';
import {
  COMMAND_HEADER_BYTES,
  Opcode,
  QueuePairState,
  UNDERLYING_FUNCTION_COMMANDS_SENT_OFFSET,
  UNDERLYING_FUNCTION_COMMANDS_STALE_OFFSET,
  UNDERLYING_FUNCTION_KICKS_OFFSET,
  UNDERLYING_FUNCTION_KICK_RECORDS_DROPPED_OFFSET,
  WORK_QUEUE_REFERENCE_BYTES,
  getWorkQueueReferenceLength,
  getWorkQueueReferenceOffset,
  getWorkQueueReferenceSequenceNumber,
} from '../../lib/spec/index.ts';
import { closing, describeOnBackends, makeBoard, openDriver, type Backend } from '../helpers/backends.ts';

const recordsLog2 = 3;
const shortTime = 5_000_000; // nanoseconds; ends the wait for a record that never arrives

interface Probed {
  readonly board: EmulatedBoard;
  readonly driver: HcaDriver;
  readonly source: LoopedQueuePair;
  readonly setup: DoorbellProbeSetup;
  readonly probe: DoorbellProbe;
}

/** A probe whose send queue and record ring are small enough for every run to wrap them. */
function makeProbe(
  backend: Backend,
  { payloadBytes = 32, ...changed }: Partial<DoorbellProbeSetup> & { payloadBytes?: number } = {},
  options: BoardOptions = {},
): Probed {
  const board = makeBoard(backend, options);
  const context = closing(new Context(openDriver(board)));
  const { driver } = context;
  const source = closing(new LoopedQueuePair(context, { entries: 4, inlineBytes: 256 }));
  const records = closing(new KickRecordRing(driver.device, recordsLog2));
  const setup: DoorbellProbeSetup = {
    ...doorbellProbeSetup(driver, source, records, payloadBytes),
    ...changed,
  };
  return { board, driver, source, setup, probe: driver.device.board.doorbellProbe(setup) };
}

function partsOf(run: DoorbellProbeRun): readonly Float64Array[] {
  return [
    run.callToLastStore,
    run.fence,
    run.lastStoreToKick,
    run.firstWriteToKick,
    run.kickToRecord,
    run.postToCompletion,
    run.lastStoreToRecord,
  ];
}

/** The CPUs that this thread may run on, as Linux lists them. */
function allowedCpus(): string {
  return /^Cpus_allowed_list:\t(.*)$/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))![1]!;
}

describeOnBackends('a doorbell probe', (backend) => {
  it.each([1, 2, 3, 4, 9])(
    'posts to the virtual collect buffers in turn, with one fence for every %i commands',
    (commandsPerFence) => {
      // Writes stay in the buffer until a fence.
      const { driver, source, setup } = makeProbe(backend, {}, { mapping: 'adversarial' });
      const [first, second] = driver.virtualCollectBuffers.all;
      const probe = driver.device.board.doorbellProbe({
        ...setup,
        virtualCollectBufferOffset: first!.offset,
        virtualCollectBuffers: 4,
        virtualCollectBufferStride: second!.offset - first!.offset,
      });
      for (const times of [1, 2]) {
        const { nanosecondsPerPost, nanosecondsPerStore } = probe.rate(10, commandsPerFence);
        expect(nanosecondsPerStore).toBeGreaterThan(0);
        expect(nanosecondsPerPost).toBeGreaterThanOrEqual(nanosecondsPerStore);
        expect(driver.device.page.read32(UNDERLYING_FUNCTION_COMMANDS_SENT_OFFSET)).toBe(times * 12);
      }
      expect(source.memory.bytes.subarray(0, 32)).toEqual(new Uint8Array(32).fill(0x5a));
      expect(() => probe.rate(0, 1)).toThrow('count is 0, but must be at least 1');
      expect(() => probe.rate(1, 0)).toThrow('commandsPerFence is 0, but must be at least 1');
    },
  );

  it('polls for records continuously if asked to', () => {
    const { probe } = makeProbe(backend);
    const run = probe.run(20, true, true);
    expect(partsOf(run).map(({ length }) => length)).toEqual(Array<number>(7).fill(20));
  });

  it.each([0, 4, 96, 256])('times every part of every post of %i B, in order', (payloadBytes) => {
    const { probe } = makeProbe(backend, { payloadBytes });
    const run = probe.run(40, true);
    expect(partsOf(run).map(({ length }) => length)).toEqual([40, 40, 40, 40, 40, 40, 40]);
    for (let post = 0; post < 40; post++) {
      const [call, fence, toKick, collecting, toRecord, completed, headline] = partsOf(run).map(
        (part) => part[post]!,
      );
      for (const time of [call!, fence!, collecting!]) expect(time).toBeGreaterThanOrEqual(0);
      expect(headline!).toBeGreaterThanOrEqual(fence!);
      expect(completed!).toBeGreaterThanOrEqual(call! + headline!);
      expect(toKick! + toRecord!).toBeCloseTo(headline!, 2); // both end at the kick
    }
    expect(run.nanosecondsPerPost).toBeGreaterThan(0);
    expect(run.nanosecondsPerStamp).toBeGreaterThan(0);
    expect(run.clockUncertainty).toBeGreaterThan(0);
  });

  it('runs with and without stamps in turn, and the device kicks and sends every command in order', () => {
    const { driver, probe, source } = makeProbe(backend);
    let posted = 0;
    for (const [count, stamped] of [
      [1, false],
      [9, true],
      [17, false],
      [1, true],
    ] as const) {
      const run = probe.run(count, stamped);
      posted += count;
      expect(new Set(partsOf(run).map(({ length }) => length))).toEqual(new Set([stamped ? count : 0]));
      const { page } = driver.device;
      expect(page.read32(UNDERLYING_FUNCTION_KICKS_OFFSET)).toBe(posted);
      expect(page.read32(UNDERLYING_FUNCTION_COMMANDS_SENT_OFFSET)).toBe(posted);
      expect(page.read32(UNDERLYING_FUNCTION_COMMANDS_STALE_OFFSET)).toBe(0);
      expect(page.read32(UNDERLYING_FUNCTION_KICK_RECORDS_DROPPED_OFFSET)).toBe(0);
    }
    expect(source.queuePair.query().state).toBe(QueuePairState.readyToSend);
  });

  // With progress own each post waits for another thread; 65,541 of them take minutes on a busy machine.
  if (backend.options.progress !== 'own') {
    it('wraps the 16-bit sequence number', () => {
      const { driver, probe } = makeProbe(backend, { payloadBytes: 0 });
      const posts = 0x10000 + 5;
      probe.run(posts, false);
      expect(driver.device.page.read32(UNDERLYING_FUNCTION_COMMANDS_SENT_OFFSET)).toBe(posts);
    });
  }

  it('writes the work queue references of its commands', () => {
    const { probe, setup } = makeProbe(backend, { payloadBytes: 96 });
    probe.run(6, false);
    const references = new DataView(setup.references.buffer);
    for (const [slot, sequenceNumber] of [4, 5, 2, 3].entries()) {
      const at = slot * WORK_QUEUE_REFERENCE_BYTES;
      expect(getWorkQueueReferenceSequenceNumber(references, at)).toBe(sequenceNumber);
      expect(getWorkQueueReferenceOffset(references, at)).toBe(0);
      expect(getWorkQueueReferenceLength(references, at)).toBe(COMMAND_HEADER_BYTES + 96);
    }
  });

  it('names the command that has no kick record', () => {
    const { board, probe, setup } = makeProbe(backend, { payloadBytes: 0, timeout: shortTime });
    probe.run(2, true);
    board.inject({ kind: 'drop', bar: setup.virtualCollectBufferBar, nth: 2 });
    expect(() => probe.run(10, true)).toThrow(/no kick record of command 4 came within 5000000 ns/);
  });

  it('names the command that has no completion', () => {
    const { source, setup, driver } = makeProbe(backend, { payloadBytes: 0 });
    const other = driver.device.allocate(4096);
    const probe = driver.device.board.doorbellProbe({ ...setup, completions: other, timeout: shortTime });
    expect(() => probe.run(1, true)).toThrow(
      /no completion of command 0 came within 5000000 ns, though it was kicked/,
    );
    expect(source.queuePair.query().state).toBe(QueuePairState.readyToSend);
  });

  it('reports a command that is incomplete or refused', () => {
    const { probe } = makeProbe(backend, { payloadBytes: 64, commandBytes: 96, timeout: shortTime });
    expect(() => probe.run(1, false)).toThrow(/no kick record of command 0/);
  });

  it('reports the status of a failed command', () => {
    const { probe, source } = makeProbe(backend);
    probe.run(3, false);
    source.queuePair.modify({ state: QueuePairState.error });
    expect(() => probe.run(3, true)).toThrow(/command 3 failed: work_request_flushed_error/);
  });

  it('rejects the kick record of another command', () => {
    const { probe, source } = makeProbe(backend, { firstSequenceNumber: 1 });
    source.queuePair.driver.post({ opcode: Opcode.rdmaWrite, remote: source.memory.remote() });
    expect(() => probe.run(1, true)).toThrow(/the record after command 1 belongs to another command/);
  });

  if (backend.isServed !== true)
    it('throws if its function is closed or its memory is freed', () => {
      const closed: unknown = expect.objectContaining({ code: 'ERR_CLOSED' });
      const freed = makeProbe(backend);
      const spare = freed.driver.device.board.allocateMemory(4096);
      const probe = freed.driver.device.board.doorbellProbe({ ...freed.setup, recordsHead: spare });
      spare.free();
      expect(() => probe.run(1, true)).toThrow(closed);
      expect(() => freed.probe.run(1, true)).not.toThrow();

      const opened = makeProbe(backend);
      const other = opened.board.open(0);
      const memory = other.allocateMemory(4096);
      const left = other.doorbellProbe({
        ...opened.setup,
        entryArea: memory,
        references: memory,
        records: memory,
        recordsHead: memory,
        completions: memory,
        completionsHead: memory,
      });
      other.close();
      expect(() => left.run(1, true)).toThrow(closed);
    });

  it('pins the posting thread, and restores its CPU affinity', () => {
    const before = allowedCpus();
    const cpu = Number.parseInt(before, 10);
    makeProbe(backend, { cpu }).probe.run(5, true);
    expect(allowedCpus()).toBe(before);
    expect(() => makeProbe(backend, { cpu: 4095 }).probe.run(5, true)).toThrow(
      /cpu is 4095, but this thread may not run on that CPU/,
    );
    expect(allowedCpus()).toBe(before);
  });
});

describe('a doorbell probe refuses, and names,', () => {
  const stepped: Backend = { name: 'stepped', options: { progress: 'stepped' } };
  const making = (changed: object) => () => makeProbe(stepped, changed);

  it('a missing field', () => {
    const names = [
      'virtualCollectBufferBar',
      'virtualCollectBufferOffset',
      'entryArea',
      'entryOffset',
      'commandBytes',
      'references',
      'sendQueueLog2',
      'firstSequenceNumber',
      'records',
      'recordsLog2',
      'recordsHead',
      'completions',
      'completionsLog2',
      'completionsHead',
      'clockBar',
      'clockOffset',
      'clockFrequency',
    ];
    for (const name of names)
      expect(making({ [name]: undefined }), name).toThrow(new RegExp(`must have ${name}$`));
  });

  it.each([
    [{ commandBytes: 60 }, /commandBytes is 60, but must be at least 64/],
    [{ commandBytes: 66 }, /commandBytes is 66, but must be a multiple of 4/],
    [{ commandBytes: 324 }, /commandBytes is 324/],
    [{ entryOffset: 32 }, /entryOffset is 32, but must be a multiple of 64/],
    [{ entryOffset: 4096 - 256 }, /entryArea has 4096 B, but 320 B at 3840 are needed/],
    [{ sendQueueLog2: 10 }, /references has 4096 B, but 8192 B at 0 are needed/],
    [{ recordsLog2: 7 }, /records has 4096 B, but 8192 B at 0 are needed/],
    [{ completionsLog2: 7 }, /completions has 4096 B, but 8192 B at 0 are needed/],
    [{ firstSequenceNumber: 0x10000 }, /firstSequenceNumber is 65536/],
    [{ clockFrequency: 0 }, /clockFrequency is 0, but must be at least 1/],
    [{ virtualCollectBufferOffset: 32 }, /offset is 32, but must be a multiple of 64/],
    [{ records: {} }, /memory must be a DmaMemory/],
    [{ cpus: 1 }, /the options of a doorbell probe have no field cpus/],
  ])('%j', (changed, message) => {
    expect(making(changed)).toThrow(message);
  });

  it('a run of no commands', () => {
    const { probe } = makeProbe(stepped);
    expect(() => probe.run(0, true)).toThrow(/count is 0, but must be at least 1/);
    expect(() => probe.run(1.5, true)).toThrow(/count is 1.5/);
  });
});
