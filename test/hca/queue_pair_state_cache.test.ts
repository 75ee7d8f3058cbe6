import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  ManagementOpcode,
  ManagementStatus,
  QueuePairAttribute,
  QueuePairState,
  ServiceType,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import { ManagedDevice, ManagedFunction } from './managed_function.ts';
import { createInput, goodAttributes, maskOf } from './management_inputs.ts';
import { Absence } from './resource_manager_port.ts';

interface QueuePair {
  number: number;
  underlyingFunction: number;
  handle: bigint; // its distinguishing value
  next: number;
  state: number;
  pins: number;
}

const init = maskOf(
  QueuePairAttribute.state,
  QueuePairAttribute.partitionKeyIndex,
  QueuePairAttribute.port,
  QueuePairAttribute.queueKey,
);

const actions = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'create',
      'create',
      'write',
      'write',
      'pin',
      'unpin',
      'modify',
      'query',
      'find',
      'find',
      'error',
      'destroy',
    ),
    pick: fc.nat(1000),
    value: fc.nat(0xffff),
  }),
  { maxLength: 150 },
);

/** A device with two functions that manage queue pairs. */
const makeHosts = (cached: number, queuePairs = 24): { device: ManagedDevice; hosts: ManagedFunction[] } => {
  const device = new ManagedDevice({ queuePairs, queuePairContextsCached: cached });
  return { device, hosts: [new ManagedFunction(device, 0, 5), new ManagedFunction(device, 3, 5)] };
};

const indexOf = (number: number): number => number & 0xffff;

describe('queue_pair_state_cache', () => {
  it.each([2, 3, 24])('keeps every context as a plain map does, with %i of them cached', (cached) => {
    fc.assert(
      fc.property(actions, (steps) => {
        const { device, hosts } = makeHosts(cached);
        const { port } = device;
        const domains = hosts.map((host) => host.createProtectionDomain());
        let living: QueuePair[] = [];
        const gone: QueuePair[] = [];
        let made = 0n;
        for (const { kind, pick, value } of steps) {
          const side = pick % 2;
          const host = hosts[side]!;
          const subject = living[pick % Math.max(living.length, 1)];
          if (kind === 'create') {
            const input = createInput(domains[side]!, ServiceType.unreliableDatagram, {
              user_handle: ++made,
            });
            const answer = host.execute(ManagementOpcode.createQueuePair, {}, input);
            if (living.length === 22) {
              expect(answer).toMatchObject({ status: ManagementStatus.noResources, asked: 1, left: 0 });
              continue;
            }
            expect(answer.status).toBe(ManagementStatus.success);
            const number = Number(answer.output);
            expect(indexOf(number)).toBeGreaterThanOrEqual(2);
            expect([...living, ...gone].map((other) => other.number)).not.toContain(number);
            expect(living.map((other) => indexOf(other.number))).not.toContain(indexOf(number));
            living.push({
              number,
              underlyingFunction: host.underlyingFunction,
              handle: made,
              next: 0,
              state: QueuePairState.reset,
              pins: 0,
            });
          }
          if (subject === undefined) continue;
          const { number, underlyingFunction } = subject;
          const owner = hosts.find((candidate) => candidate.underlyingFunction === underlyingFunction)!;
          if (kind === 'write') {
            subject.next = value;
            const { requester } = port.find(underlyingFunction, number);
            const changed = { ...decode('queue_pair_requester', requester!), next: value };
            expect(
              port.setRequester(underlyingFunction, number, encode('queue_pair_requester', changed)),
            ).toBe(true);
          } else if (kind === 'pin') {
            expect(port.pin(number)).toBe(true);
            ++subject.pins;
          } else if (kind === 'unpin' && subject.pins > 0) {
            port.unpin(number);
            --subject.pins;
          } else if (kind === 'modify') {
            const answer = owner.modify(number, goodAttributes(init, QueuePairState.init));
            const allowed = subject.state === QueuePairState.reset || subject.state === QueuePairState.init;
            expect(answer.status === ManagementStatus.success).toBe(allowed);
            if (allowed) subject.state = QueuePairState.init;
          } else if (kind === 'query') {
            expect(owner.query(number)).toMatchObject({
              user_handle: subject.handle,
              next: subject.next,
              state: subject.state,
              in_flight: subject.pins,
            });
          } else if (kind === 'error') {
            expect(port.enterError(underlyingFunction, number)).toBe(subject.state !== QueuePairState.error);
            subject.state = QueuePairState.error;
          } else if (kind === 'destroy') {
            owner.post(ManagementOpcode.destroyQueuePair, { input_modifier: number });
            owner.ring();
            device.runUntilIdle();
            // The answer waits for the pins; no new reference is permitted meanwhile.
            while (subject.pins > 0) {
              expect(owner.takeAnswers()).toEqual([]);
              expect(port.pin(number)).toBe(false);
              port.unpin(number);
              --subject.pins;
              device.runUntilIdle();
            }
            expect(owner.takeAnswers()).toMatchObject([{ status: ManagementStatus.success }]);
            living = living.filter((other) => other !== subject);
            gone.push(subject);
          }
          for (const { number: stale } of gone.slice(-5))
            for (const { underlyingFunction: any } of hosts)
              expect(port.find(any, stale).absence).not.toBe(Absence.none);
          if (kind === 'find')
            for (const each of living.slice(0, 4)) {
              const found = port.find(each.underlyingFunction, each.number);
              expect(found.absence).toBe(Absence.none);
              expect(decode('queue_pair_control', found.control!)).toMatchObject({
                user_handle: each.handle,
                state: each.state,
              });
              expect(Number(decode('queue_pair_requester', found.requester!)['next'])).toBe(each.next);
            }
          expect(port.verify()).toBeNull();
        }
        expect(port.queuePairsFree()).toBe(22 - living.length);
      }),
      { numRuns: 40 },
    );
  });

  it('reports why a queue pair is not found', () => {
    const { device, hosts } = makeHosts(4, 3); // one index
    const [first, second] = hosts;
    const domain = first!.createProtectionDomain();
    const old = first!.createQueuePair(domain);
    expect(device.port.find(0, old).absence).toBe(Absence.none);
    expect(device.port.find(3, old).absence).toBe(Absence.otherFunction);
    expect(device.port.find(0, 0).absence).toBe(Absence.unknown);
    expect(device.port.find(0, 1).absence).toBe(Absence.unknown);
    expect(device.port.find(0, 0xffff).absence).toBe(Absence.unknown);
    first!.succeed(ManagementOpcode.destroyQueuePair, { input_modifier: old });
    expect(device.port.find(0, old).absence).toBe(Absence.unknown);
    const young = first!.createQueuePair(domain);
    expect(indexOf(young)).toBe(indexOf(old));
    expect(device.port.find(0, old).absence).toBe(Absence.wrongGeneration);
    expect(device.port.pin(old)).toBe(false);
    const stale = first!.execute(ManagementOpcode.queryQueuePair, { input_modifier: old });
    expect(stale.status).toBe(ManagementStatus.badObject);
    expect(second!.execute(ManagementOpcode.queryQueuePair, { input_modifier: young }).status).toBe(
      ManagementStatus.badObject,
    );
  });

  it('assigns every generation of an index, one after the other', () => {
    const { hosts } = makeHosts(2, 3);
    const host = hosts[0]!;
    const domain = host.createProtectionDomain();
    const numbers = Array.from({ length: 257 }, () => {
      const number = host.createQueuePair(domain);
      host.succeed(ManagementOpcode.destroyQueuePair, { input_modifier: number });
      return number;
    });
    expect(numbers.map((number) => number >> 16)).toEqual([...Array(256).keys(), 0]);
  });

  it('allocates the index that has been free for longest', () => {
    const { hosts } = makeHosts(4, 6); // indices 2 to 5
    const host = hosts[0]!;
    const domain = host.createProtectionDomain();
    const [a, b, c] = [0, 0, 0].map(() => host.createQueuePair(domain));
    for (const number of [b, a, c])
      host.succeed(ManagementOpcode.destroyQueuePair, { input_modifier: number! });
    const reused = [0, 0, 0, 0].map(() => indexOf(host.createQueuePair(domain)));
    expect(reused).toEqual([5, indexOf(b!), indexOf(a!), indexOf(c!)]);
  });

  it('reads a context again only when it had to make room, pinned ones last', () => {
    const { device, hosts } = makeHosts(2);
    const host = hosts[0]!;
    const domain = host.createProtectionDomain();
    const [a, b, c] = [0, 0, 0].map(() => host.createQueuePair(domain)) as [number, number, number];
    const misses = (number: number): number => {
      const before = device.port.counters(0).cacheMisses;
      expect(device.port.find(0, number).absence).toBe(Absence.none);
      return device.port.counters(0).cacheMisses - before;
    };
    expect([misses(a), misses(a)]).toEqual([1, 0]);
    expect(device.port.pin(a)).toBe(true);
    expect([misses(b), misses(c), misses(b), misses(a)]).toEqual([1, 1, 1, 0]);
    // All are pinned, but there is still room.
    expect(device.port.pin(b)).toBe(true);
    expect([misses(c), misses(c)]).toEqual([1, 0]);
    expect(device.port.verify()).toBeNull();
    for (const number of [a, b]) device.port.unpin(number);
    expect(device.port.verify()).toBeNull();
  });

  it('refuses a context that differs from the one it wrote', () => {
    const { device, hosts } = makeHosts(2);
    const host = hosts[0]!;
    const domain = host.createProtectionDomain();
    const [a, b, c] = [0, 0, 0].map(() => host.createQueuePair(domain)) as [number, number, number];
    for (const number of [b, c]) device.port.find(0, number);
    const at = device.contextMemory + indexOf(a) * 512;
    device.bytes.fill(0, at, at + 512);
    expect(device.port.find(0, a).absence).toBe(Absence.contextMemoryFault);
    expect(host.execute(ManagementOpcode.queryQueuePair, { input_modifier: a }).status).toBe(
      ManagementStatus.contextMemoryFault,
    );
    expect(device.port.find(0, b).absence).toBe(Absence.none);
    expect(device.port.verify()).toBeNull();
  });

  it('loses no context while context memory cannot be accessed', () => {
    const { device, hosts } = makeHosts(2);
    const host = hosts[0]!;
    const domain = host.createProtectionDomain();
    const numbers = [0, 0, 0].map(() => host.createQueuePair(domain));
    numbers.forEach((number, index) => {
      expect(device.port.setRequester(0, number, encode('queue_pair_requester', { next: 100 + index }))).toBe(
        true,
      );
    });
    const begin = device.address(device.contextMemory);
    device.port.setFaults([{ underlyingFunction: 0, begin, end: begin + 0x10_0000n }]);
    expect(device.port.find(0, numbers[0]!).absence).toBe(Absence.contextMemoryFault);
    device.port.setFaults([]);
    numbers.forEach((number, index) => {
      const { requester } = device.port.find(0, number);
      expect(Number(decode('queue_pair_requester', requester!)['next'])).toBe(100 + index);
    });
    expect(device.port.verify()).toBeNull();
  });

  it('removes the queue pairs of a reset function, with their pins and waiting commands', () => {
    const { device, hosts } = makeHosts(3);
    const [kept, reset] = hosts as [ManagedFunction, ManagedFunction];
    const stays = kept.createQueuePair(kept.createProtectionDomain());
    const free = device.port.entriesFree();
    const domain = reset.createProtectionDomain();
    const [pinned, waiting, quiet] = [0, 0, 0].map(() => reset.createQueuePair(domain)) as [
      number,
      number,
      number,
    ];
    for (const number of [stays, pinned, waiting]) expect(device.port.pin(number)).toBe(true);
    reset.post(ManagementOpcode.destroyQueuePair, { input_modifier: waiting });
    kept.post(ManagementOpcode.destroyQueuePair, { input_modifier: stays });
    for (const host of hosts) host.ring();
    device.runUntilIdle();
    reset.post(ManagementOpcode.destroyQueuePair, { input_modifier: quiet });
    reset.ring();
    // Executed, but not answered yet.
    device.port.step();
    const accesses = device.port.accessesOf(3);
    device.port.resetFunction(3);
    expect(device.port.verify()).toBeNull();
    for (const number of [pinned, waiting, quiet]) {
      expect(device.port.find(3, number).absence).toBe(Absence.unknown);
      device.port.unpin(number);
    }
    device.runUntilIdle();
    expect(device.port.accessesOf(3)).toBe(accesses);
    expect(device.port.entriesFree()).toBe(free);
    expect(device.port.queuePairsFree()).toBe(21);
    expect(kept.takeAnswers()).toEqual([]);
    device.port.unpin(stays);
    device.runUntilIdle();
    expect(kept.takeAnswers()).toMatchObject([{ status: ManagementStatus.success }]);
    expect(device.port.verify()).toBeNull();
  });
});
