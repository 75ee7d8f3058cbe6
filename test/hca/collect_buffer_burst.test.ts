import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { COMMAND_HEADER_BYTES, getCommandHeaderLength } from '../../lib/spec/commands.ts';
import {
  PhysicalCollectBufferState,
  QualityOfServiceLevel,
  ScoreboardVariant,
  VirtualCollectBufferState,
} from '../../lib/spec/enums.ts';
import { KICK_RECORD_BYTES, getKickRecordBegin, getKickRecordEnd } from '../../lib/spec/queues.ts';
import { makeCollectBuffer, type CollectBufferPort } from '../helpers/collect_buffer_port.ts';
import { makeCommand, post, wholeLines, type CommandOptions } from '../helpers/command.ts';
import { viewOf } from './data_view.ts';

const own = 0x010007;
const high = 0x010009;
const foreign = 0x010008;
const secret = 0x9abcdef0;
const buffers = 3;
const recordsLog2 = 4;
const variants = [
  ['masked', ScoreboardVariant.masked],
  ['direct', ScoreboardVariant.direct],
] as const;

function makePort(scoreboardVariant: number): CollectBufferPort {
  const port = makeCollectBuffer({ scoreboardVariant, physicalCollectBuffers: 2 });
  port.defineQueuePair(0, own, QualityOfServiceLevel.low, secret);
  port.defineQueuePair(0, high, QualityOfServiceLevel.high, secret);
  port.defineQueuePair(1, foreign, QualityOfServiceLevel.low, secret);
  port.setKickRecords(0, 1, recordsLog2, port.base, port.base + 8192n);
  return port;
}

/** The defined part of a PCB's state: its data only once they are complete, and nothing while it is free. */
function physical(port: CollectBufferPort, buffer: number): unknown {
  const { data, ...rest } = port.physical(buffer);
  if (rest.state === PhysicalCollectBufferState.free) return 'free';
  const bytes = COMMAND_HEADER_BYTES + getCommandHeaderLength(viewOf(data), 0);
  return rest.state === PhysicalCollectBufferState.kicked ? { ...rest, data: data.slice(0, bytes) } : rest;
}

/** The visible state of a port. */
function seen(port: CollectBufferPort): object {
  return {
    kicks: port.takeKicks(),
    notices: port.takeNotices(),
    events: port.takeEvents(),
    physical: [0, 1].map((buffer) => physical(port, buffer)),
    virtual: Array.from({ length: buffers }, (_, buffer) => port.virtual(buffer)),
    groups: port.groups(0),
    counters: port.counters(0),
    nextDeadline: port.nextDeadline(),
    records: Buffer.from(port.memory, 0, KICK_RECORD_BYTES << recordsLog2).toString('hex'),
    wrong: port.verify(),
  };
}

function writeLines(port: CollectBufferPort, buffer: number, command: Uint8Array): void {
  for (const line of wholeLines(command)) post(port, buffer, line);
}

/** As a burst, or line by line if the device does not accept the burst, as a board does it. */
function writeEither(port: CollectBufferPort, buffer: number, command: Uint8Array): void {
  if (!port.writeBurst(buffer, 0, command)) writeLines(port, buffer, command);
}

const command = fc.record(
  {
    length: fc.integer({ min: 0, max: 256 }),
    queuePairNumber: fc.constantFrom(own, own, own, high, foreign, 0x020007),
    sequenceNumber: fc.nat({ max: 0xffff }),
    level: fc.constantFrom(QualityOfServiceLevel.low, QualityOfServiceLevel.low, QualityOfServiceLevel.high),
    version: fc.constantFrom(1, 1, 1, 2),
    reserved: fc.constantFrom(false, false, false, true),
    checksumSecret: fc.constantFrom(secret, secret, secret + 1),
  },
  { requiredKeys: ['length', 'queuePairNumber'] },
);

const action = fc.record({
  kind: fc.constantFrom('command', 'command', 'command', 'command', 'half', 'cancel', 'close', 'release'),
  buffer: fc.nat({ max: buffers - 1 }),
  command,
  longer: fc.constantFrom(0, 0, 0, 0, 8, 64), // bytes written beyond the command's length
});

function act(
  port: CollectBufferPort,
  {
    kind,
    buffer,
    longer,
    ...made
  }: Omit<typeof action extends fc.Arbitrary<infer Value> ? Value : never, 'command'> & {
    command: CommandOptions;
  },
  writeCommand: typeof writeLines,
): void {
  const bytes = makeCommand(made.command);
  const written = new Uint8Array(Math.min(320, bytes.length + longer));
  written.set(bytes);
  if (kind === 'command') writeCommand(port, buffer, written);
  else if (kind === 'half') post(port, buffer, wholeLines(bytes.slice(0, 56))[0]!);
  else if (kind === 'cancel') port.cancel(buffer);
  else if (kind === 'close')
    port[port.virtual(buffer).state === VirtualCollectBufferState.closed ? 'open' : 'close'](buffer);
  else
    for (const number of [0, 1])
      if (port.physical(number).state === PhysicalCollectBufferState.kicked) port.release(number);
}

describe.each(variants)('a command written by one burst, variant %s', (_, variant) => {
  it('has the effects of its lines one after the other', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
        const byLines = makePort(variant);
        const byBursts = makePort(variant);
        for (const each of actions) {
          act(byLines, each, writeLines);
          act(byBursts, each, writeEither);
          expect(seen(byBursts)).toEqual(seen(byLines));
        }
      }),
      { seed: 8589610, numRuns: 150 },
    );
  });

  it.each([0, 1, 56, 64, 96, 192, 193, 256])('is kicked with a payload of %i B', (length) => {
    const port = makePort(variant);
    const bytes = makeCommand({ length, queuePairNumber: own, checksumSecret: secret });
    expect(port.writeBurst(1, 0, bytes)).toBe(true);
    expect(port.takeKicks().length).toBe(1);
    expect(port.physical(0).data.slice(0, bytes.length)).toEqual(bytes);
    expect(port.virtual(1).state).toBe(VirtualCollectBufferState.free);
  });

  it('has one time: its kick is its first write', () => {
    const port = makePort(variant);
    port.setTime(1000n, 7n);
    expect(port.writeBurst(0, 0, makeCommand({ length: 256, queuePairNumber: own }))).toBe(true);
    const record = new DataView(port.memory, 0, KICK_RECORD_BYTES);
    expect([getKickRecordBegin(record, 0), getKickRecordEnd(record, 0)]).toEqual([1000n, 1000n]);
  });
});

describe('a burst other than a whole command to a free VCB', () => {
  const bytes = makeCommand({ length: 96, queuePairNumber: own });
  const longer = new Uint8Array(bytes.length + 8);
  longer.set(bytes);
  const cases: {
    what: string;
    burst: Parameters<CollectBufferPort['writeBurst']>;
    before?: (port: CollectBufferPort) => void;
  }[] = [
    { what: 'ends before the command does', burst: [0, 0, bytes.slice(0, 152)] },
    { what: 'ends within segment 0', burst: [0, 0, bytes.slice(0, 4)] },
    { what: 'goes on behind it', burst: [0, 0, longer] },
    { what: 'begins behind segment 0', burst: [0, 64, makeCommand({ length: 0, queuePairNumber: own })] },
    { what: "is of another function's BAR", burst: [0, 0, bytes, undefined, 1] },
    { what: 'goes to a VCB that there is not', burst: [256, 0, bytes] },
    {
      what: 'comes to a half-written command',
      burst: [0, 0, bytes],
      before: (port) => port.write(0, 8, new Uint8Array(8)),
    },
    { what: 'comes to a closed VCB', burst: [0, 0, bytes], before: (port) => port.close(0) },
    {
      what: 'comes to a VCB in error',
      burst: [0, 0, bytes],
      before: (port) => port.write(0, 320, new Uint8Array(8)),
    },
    {
      what: 'finds no PCB',
      burst: [0, 0, bytes],
      before: (port) => [1, 2].forEach((buffer) => port.write(buffer, 8, new Uint8Array(8))),
    },
  ];

  it.each(cases)('is refused and changes nothing: it $what', ({ burst, before }) => {
    const port = makePort(ScoreboardVariant.masked);
    before?.(port);
    const was = seen(port);
    expect(port.writeBurst(...burst)).toBe(false);
    expect(seen(port)).toMatchObject({ ...was, events: [] });
  });
});
