// Long random runs, checked after every step: nothing is lost, nothing exists twice, and no destroyed object
// holds a resource.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { blockNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import {
  DOORBELL_SLOTS_OFFSET,
  DOORBELL_SLOT_WRITE_BYTES,
  DoorbellSlot,
  KickRecordType,
  ManagementOpcode,
  ManagementStatus,
  RegionType,
  Resource,
  encode,
} from '../../lib/spec/index.ts';
import { Device } from '../helpers/device.ts';
import { FunctionHost, type SendQueue } from './function_host.ts';
import { Random } from '../helpers/random.mjs';

const functions = 3;
const buffersEach = 16; // VCBs: 4 of the low level, 8 of both, 4 of the high level
const memoryBytes = 64 << 20;
const actions = 250;

/** A command that is written piece by piece. */
interface HalfWritten {
  readonly buffer: number;
  readonly command: Uint8Array;
  at: number;
}

/** A queue pair, and its posted and sent work requests. */
interface Posting {
  readonly queue: SendQueue;
  posted: number;
  readonly sent: number[];
  half: HalfWritten | undefined;
}

class Run {
  readonly random: Random;
  readonly device: Device;
  readonly hosts: FunctionHost[];
  postings: Posting[];
  private checks = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    const { random } = this;
    this.device = new Device({
      memoryBytes,
      underlyingFunctions: functions,
      virtualCollectBuffers: functions * buffersEach,
      physicalCollectBuffers: 3 + random.below(10),
      dedicatedPhysicalCollectBuffers: 2 + random.below(2),
      managementPhysicalCollectBuffers: 1,
      transmitVirtualLanes: 6 + random.below(6),
      executionCreditsPerLane: random.below(2),
      completionCreditsPerLane: random.below(2),
      sharedExecutionCredits: 1 + random.below(4),
      sharedCompletionCredits: 1 + random.below(4),
      schedulerBatch: 1 + random.below(3),
      queuePairContextsCached: 4,
    });
    this.device.enable();
    this.hosts = Array.from({ length: functions }, (_, number) => new FunctionHost(this.device, number));
    for (let number = 0; number < functions; number++) {
      const page = this.offsetOf('control', 'function_virtual_collect_buffer_sub_bar') + number * 4;
      this.device.write32(RegionType.control, 0, page, 4 | (12 << 16));
    }
    this.postings = this.hosts.flatMap((host) => this.postingsOf(host));
  }

  private postingsOf(host: FunctionHost): Posting[] {
    return [0, 1, 0, 1].map((level) => ({
      queue: host.createQueuePair(level),
      posted: 0,
      sent: [],
      half: undefined,
    }));
  }

  private offsetOf(block: string, register: string): number {
    return registerNamed(blockNamed(block), register).offset;
  }

  /** Checks the sums that hold at any moment. */
  check(): void {
    this.checks += 1;
    const wrong = this.device.port.verify();
    if (wrong !== null) throw new Error(`${wrong}, seen by check ${this.checks}`);
  }

  step(): boolean {
    const worked = this.device.port.step();
    this.check();
    return worked;
  }

  read(): void {
    for (const host of this.hosts)
      for (const record of host.takeKickRecords())
        if (record.type === KickRecordType.sent)
          this.postings
            .find(({ queue }) => queue.number === record.queue_pair_number)
            ?.sent.push(record.send_queue_sequence_number);
  }

  private write(buffer: number, offset: number, bytes: Uint8Array): void {
    while (!this.device.port.canAcceptWrite()) this.step();
    this.device.port.write(RegionType.virtualCollectBuffer, buffer, offset, bytes);
    this.check();
  }

  /** A VCB of the function that no command is being written to. */
  private freeBuffer(underlyingFunction: number): number | undefined {
    const taken = new Set(this.postings.map(({ half }) => half?.buffer));
    const all = Array.from({ length: buffersEach }, (_, index) => underlyingFunction * buffersEach + index);
    const free = all.filter((buffer) => !taken.has(buffer));
    return free.length === 0 ? undefined : this.random.pick(free);
  }

  /** Begins a command, or continues one. */
  private post(posting: Posting): void {
    if (posting.half === undefined) {
      const buffer = this.freeBuffer(posting.queue.host.underlyingFunction);
      if (buffer === undefined || posting.posted - posting.sent.length >= 14) return;
      const command = posting.queue.prepare(8 * this.random.below(12));
      posting.half = { buffer, command, at: 0 };
      posting.posted++;
    }
    const { half } = posting;
    const pieces = 1 + this.random.below(3);
    for (let piece = 0; piece < pieces && half.at < half.command.length; piece++) {
      const bytes = half.command.slice(half.at, half.at + 64);
      this.write(half.buffer, half.at, bytes);
      half.at += bytes.length;
    }
    if (half.at >= half.command.length) posting.half = undefined;
  }

  /** A slot of a VCB page: 8 B with this value. */
  private ring(buffer: number, slot: DoorbellSlot, queuePairNumber: number, sequenceNumber: number): void {
    const value = encode('doorbell_slot_write', {
      queue_pair_number: queuePairNumber,
      send_queue_sequence_number: sequenceNumber & 0xffff,
    });
    this.write(buffer, DOORBELL_SLOTS_OFFSET + slot * DOORBELL_SLOT_WRITE_BYTES, value);
  }

  /** Abandons a half-written command: the scheduler fetches it. */
  private giveUp(posting: Posting): void {
    if (posting.half === undefined) return;
    const { buffer } = posting.half;
    posting.half = undefined;
    this.ring(buffer, DoorbellSlot.cancel, 0, 0);
    this.ring(buffer, DoorbellSlot.start, posting.queue.number, posting.posted - 1);
  }

  /** Divides resources again during traffic. The device refuses impossible divisions. */
  private divide(): void {
    const { random, hosts } = this;
    const requester = random.below(2) * random.below(functions);
    const request = (): Uint8Array =>
      encode('resource_allocation_request', {
        resource: random.pick([
          Resource.physicalCollectBuffers,
          Resource.transmitVirtualLanes,
          Resource.entryCredits,
        ]),
        underlying_function: requester === 0 ? random.below(functions) : requester,
        ...(requester === 0 && random.once(2)
          ? {}
          : { for_level: 1, quality_of_service_level: random.below(2) }),
        amount: random.below(8),
      });
    const credits = (): Uint8Array =>
      encode('resource_allocation_request', {
        resource: random.pick([Resource.executionCredits, Resource.completionCredits, Resource.listSize]),
        for_lane: 1,
        transmit_virtual_lane: random.below(6),
        amount: random.below(4),
      });
    const requests = Array.from({ length: 1 + random.below(2) }, () =>
      random.once(2) && requester === 0 ? credits() : request(),
    );
    const { management } = hosts[requester]!;
    const number = management.post(ManagementOpcode.allocateResources, {}, requests);
    while (management.answer(number) === undefined)
      if (!this.step()) throw new Error('a management command is not answered, and nothing moves');
    const { status } = management.answer(number)!;
    const allowed = [
      ManagementStatus.success,
      ManagementStatus.noResources,
      ManagementStatus.badParameter,
    ] as number[];
    expect(allowed).toContain(status);
  }

  /** Resets a function in the middle of its work, and sets it up again. */
  private reset(): void {
    const number = 1 + this.random.below(functions - 1);
    this.device.port.resetFunction(number);
    this.check();
    expect(this.inUse(number)).toEqual([0, 0, 0]);
    this.postings = this.postings.filter(({ queue }) => queue.host.underlyingFunction !== number);
    this.hosts[number] = new FunctionHost(this.device, number);
    this.postings.push(...this.postingsOf(this.hosts[number]));
    this.check();
  }

  private inUse(underlyingFunction: number): number[] {
    const first = this.offsetOf('underlying_function', 'physical_collect_buffers_in_use');
    return [0, 4, 8].map((at) =>
      this.device.read32(RegionType.underlyingFunction, underlyingFunction, first + at),
    );
  }

  act(): void {
    const { random } = this;
    const posting = random.pick(this.postings);
    if (random.once(3)) this.post(posting);
    else if (random.once(20)) this.giveUp(posting);
    else if (random.once(25)) this.divide();
    else if (random.once(60)) this.reset();
    else if (random.once(12)) while (this.step());
    else this.step();
    this.read();
  }

  /** All begun work ends, and every resource is back in its place. */
  end(): void {
    for (const posting of this.postings) this.giveUp(posting);
    while (this.step());
    this.read();
    for (const { posted, sent } of this.postings)
      expect(sent).toEqual(Array.from({ length: posted }, (_, number) => number));
    for (let number = 0; number < functions; number++) expect(this.inUse(number)).toEqual([0, 0, 0]);
    const control = (name: string, index = 0): number =>
      this.device.read32(RegionType.control, 0, this.offsetOf('control', name) + index * 4);
    const shared = control('physical_collect_buffers_shared');
    expect(shared >>> 16).toBe(shared & 0xffff);
    for (let index = 0; index < 8; index++)
      expect(control('dedicated_physical_collect_buffer', index) & 7).toBe(0);
    for (let lane = 0; lane < 12; lane++) {
      const [state] = [control('lane_state', lane)];
      expect([state & 0xff, state >>> 18]).toEqual([0, 0]);
    }
  }
}

describe('conservation', () => {
  it('holds after every step of random runs, while functions and their resources change', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const run = new Run(seed);
        for (let action = 0; action < actions; action++) run.act();
        run.end();
      }),
      { numRuns: 12 },
    );
  });
});
