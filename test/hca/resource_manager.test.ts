import { describe, expect, it } from 'vitest';

import {
  EventType,
  ManagementOpcode,
  ManagementStatus,
  Resource,
  ServiceType,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import {
  ManagedDevice,
  ManagedFunction,
  eventsOf,
  holdings,
  makeEventQueue,
  makeHost,
} from './managed_function.ts';
import { bitOf, createInput, pageList } from './management_inputs.ts';

const { success, badParameter, badObject, inUse, noResources } = ManagementStatus;
const { notEnabled, unknownOpcode } = ManagementStatus;
const { createQueuePair, destroyQueuePair } = ManagementOpcode;
const allOnes = 0xffff_ffff_ffff_ffffn;

describe('resource_manager', () => {
  it('executes only query_function before the device is enabled', () => {
    const { device, host } = makeHost();
    device.port.setEnabled(false);
    expect(host.execute(ManagementOpcode.createProtectionDomain).status).toBe(notEnabled);
    expect(host.execute(ManagementOpcode.queryFunction).status).toBe(success);
    expect(host.outputOf('query_function_output', 64)).toMatchObject({
      underlying_function: 1,
      event_queues: 8,
      target_ack_delay: 15,
      queue_pairs: 62,
      memory_keys: 255,
      queue_entries_maximum: 32768,
      virtual_collect_buffer_base: 32,
      virtual_collect_buffer_count: 32,
      physical_collect_buffers: 4,
      transmit_virtual_lanes: 4,
      context_memory_needed: device.port.contextMemoryNeeded() / 4096,
    });
  });

  it('reports the division of resources', () => {
    const { host } = makeHost();
    expect(host.execute(ManagementOpcode.queryResources, { input_modifier: 1 }).status).toBe(success);
    const bytes = host.device.bytes.slice(host.output + 16, host.output + 16 + 18 * 16);
    const entries = Array.from({ length: 18 }, (_, at) =>
      decode('resource_allocation_request', bytes.slice(at * 16, at * 16 + 16)),
    );
    expect(entries).toMatchObject([
      { resource: Resource.virtualCollectBuffers, amount: 32, for_level: 0, which: 32n },
      { resource: Resource.virtualCollectBuffers, amount: 0, for_level: 1, quality_of_service_level: 0 },
      { resource: Resource.virtualCollectBuffers, amount: 0, for_level: 1, quality_of_service_level: 1 },
      { resource: Resource.physicalCollectBuffers, amount: 4, for_level: 0 },
      { resource: Resource.physicalCollectBuffers, amount: 0, for_level: 1, quality_of_service_level: 0 },
      { resource: Resource.physicalCollectBuffers, amount: 0, for_level: 1, quality_of_service_level: 1 },
      { resource: Resource.transmitVirtualLanes, amount: 4, for_level: 0, which: 0xf0n },
      { resource: Resource.transmitVirtualLanes, amount: 0, for_level: 1, quality_of_service_level: 0 },
      { resource: Resource.transmitVirtualLanes, amount: 0, for_level: 1, quality_of_service_level: 1 },
      { resource: Resource.entryCredits, amount: 72 },
      { resource: Resource.queuePairs, amount: 62 },
      { resource: Resource.completionQueues, amount: 4095 },
      { resource: Resource.memoryKeys, amount: 255 },
      { resource: Resource.eventQueues, amount: 8 },
      { resource: Resource.addressHandles, amount: 1023 },
      { resource: Resource.sharedReceiveQueues, amount: 255 },
      { resource: Resource.multicastMembers, amount: 256 },
      { resource: Resource.protectionDomains, amount: 4095 },
    ]);
  });

  it.each([0, 63, 97, 255])('refuses the unknown opcode %i', (opcode) => {
    const { host } = makeHost();
    expect(host.execute(opcode as ManagementOpcode)).toMatchObject({ status: unknownOpcode, opcode });
  });

  it.each([
    ['version', { version: 2 }],
    ['queue_pair_number', { queue_pair_number: 1 }],
    ['length', { length: 8 }],
    ['quality_of_service_level', { quality_of_service_level: 1 }],
  ])('names the field %s of a command that is wrong', (field, wrong) => {
    const { host } = makeHost();
    expect(host.execute(ManagementOpcode.createProtectionDomain, wrong)).toMatchObject({
      status: badParameter,
      inMailbox: 0,
      output: bitOf('management_command', field),
    });
  });

  it('checks reserved fields of commands and inputs', () => {
    const { device, host, domain } = makeHost();
    host.post(ManagementOpcode.createProtectionDomain);
    device.bytes[host.sendQueue + 64 + 12] = 1;
    host.ring();
    device.runUntilIdle();
    expect(host.takeAnswers()).toMatchObject([{ status: badParameter, inMailbox: 0, output: allOnes }]);
    const [input, list] = createInput(domain, ServiceType.unreliableDatagram);
    input![95] = 1;
    expect(host.execute(createQueuePair, {}, [input!, list!])).toMatchObject({
      status: badParameter,
      inMailbox: 1,
      output: allOnes,
    });
  });

  describe('protection domains', () => {
    it('are numbered per function, and reused', () => {
      const device = new ManagedDevice();
      const hosts = [1, 2].map((number) => new ManagedFunction(device, number));
      for (const host of hosts) expect([0, 0, 0].map(() => host.createProtectionDomain())).toEqual([1, 2, 3]);
      const [host] = hosts as [ManagedFunction];
      host.succeed(ManagementOpcode.destroyProtectionDomain, { input_modifier: 2 });
      expect(host.createProtectionDomain()).toBe(2);
      for (const input_modifier of [0, 9, 4096, 0xffff_ffff])
        expect(host.execute(ManagementOpcode.destroyProtectionDomain, { input_modifier }).status).toBe(
          badObject,
        );
    });

    it('stay while a queue pair is in them', () => {
      const { host, domain } = makeHost();
      const number = host.createQueuePair(domain);
      const destroy = (): number =>
        host.execute(ManagementOpcode.destroyProtectionDomain, { input_modifier: domain }).status;
      expect(destroy()).toBe(inUse);
      host.succeed(destroyQueuePair, { input_modifier: number });
      expect(destroy()).toBe(success);
      expect(destroy()).toBe(badObject);
    });

    it('report exhausted numbers', () => {
      const device = new ManagedDevice();
      const host = new ManagedFunction(device, 1, 8);
      for (let made = 0; made < 4095; ++made) host.createProtectionDomain();
      expect(host.execute(ManagementOpcode.createProtectionDomain)).toMatchObject({
        status: noResources,
        resource: Resource.protectionDomains,
        asked: 1,
        left: 0,
      });
    });
  });

  describe('event queues', () => {
    const good = { event_queue: 2, entries_log2: 8, pages: 2, head_address: 0x1000n };

    it('are created and destroyed with their page tables', () => {
      const { device, host } = makeHost();
      const before = holdings(device);
      const create = (): number =>
        host.execute(ManagementOpcode.createEventQueue, {}, [
          encode('create_event_queue_input', good),
          pageList(2),
        ]).status;
      expect(create()).toBe(success);
      expect(holdings(device)).not.toEqual(before);
      expect(create()).toBe(inUse);
      host.succeed(ManagementOpcode.destroyEventQueue, { input_modifier: 2 });
      expect(holdings(device)).toEqual(before);
      for (const input_modifier of [2, 8, 0xffff_ffff])
        expect(host.execute(ManagementOpcode.destroyEventQueue, { input_modifier }).status).toBe(badObject);
    });

    it.each([
      ['event_queue', { event_queue: 8 }],
      ['entries_log2', { entries_log2: 0 }],
      ['entries_log2', { entries_log2: 16 }],
      ['pages', { pages: 3 }],
      ['head_address', { head_address: 4n }],
    ])('name the field %s that is wrong', (field, wrong) => {
      const { device, host } = makeHost();
      const before = holdings(device);
      const fields = { ...good, ...wrong };
      const input = [encode('create_event_queue_input', fields), pageList(fields.pages)];
      expect(host.execute(ManagementOpcode.createEventQueue, {}, input)).toMatchObject({
        status: badParameter,
        inMailbox: 1,
        output: bitOf('create_event_queue_input', field),
      });
      expect(holdings(device)).toEqual(before);
    });

    it('get an event for each answer', () => {
      const { device, host } = makeHost();
      const queue = makeEventQueue(host);
      host.createProtectionDomain();
      expect(eventsOf(device, queue)).toMatchObject([
        { type: EventType.managementCompletion, object: 1 },
        { type: EventType.managementCompletion, object: 2 },
      ]);
    });
  });
});
