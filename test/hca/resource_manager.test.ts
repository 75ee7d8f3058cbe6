import { describe, expect, it } from 'vitest';

import {
  EventType,
  ManagementOpcode,
  ManagementStatus,
  QueuePairAttribute,
  QueuePairState,
  Resource,
  ServiceType,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import {
  ManagedDevice,
  ManagedFunction,
  createInput,
  goodAttributes,
  maskOf,
  pageList,
} from './managed_function.ts';

const { success, badParameter, badObject, badState, inUse, noResources, mailboxFault } = ManagementStatus;
const { contextMemoryFault, notEnabled, unknownOpcode } = ManagementStatus;
const { createQueuePair, destroyQueuePair, modifyQueuePair, queryQueuePair } = ManagementOpcode;
const allOnes = 0xffff_ffff_ffff_ffffn;

const makeHost = (
  options: ConstructorParameters<typeof ManagedDevice>[0] = {},
): { device: ManagedDevice; host: ManagedFunction; domain: number } => {
  const device = new ManagedDevice(options);
  const host = new ManagedFunction(device, 1);
  return { device, host, domain: host.createProtectionDomain() };
};

/** First bit of a field: the one that a 1 in this field alone sets. */
const bitOf = (format: string, field: string): bigint => {
  const bytes = encode(format, { [field]: 1 });
  const at = bytes.findIndex((byte) => byte !== 0);
  return BigInt(at * 8 + Math.log2(bytes[at]!));
};

/** What a failed command must not have taken. */
const holdings = (device: ManagedDevice): number[] => [
  device.port.entriesFree(),
  device.port.queuePairsFree(),
];

const makeEventQueue = (host: ManagedFunction): number => {
  const { device } = host;
  const queue = device.allocate(4096);
  const head = device.allocate(8);
  device.bytes.fill(0, queue, queue + 4096);
  device.bytes.fill(0, head, head + 8);
  host.succeed(ManagementOpcode.createEventQueue, {}, [
    encode('create_event_queue_input', {
      event_queue: 0,
      entries_log2: 7,
      pages: 1,
      head_address: device.address(head),
    }),
    pageList(1, Number(device.address(queue) >> 12n)),
  ]);
  return queue;
};

const eventsOf = (device: ManagedDevice, queue: number): Record<string, unknown>[] =>
  Array.from({ length: 128 }, (_, at) =>
    decode('event_queue_entry', device.bytes.slice(queue + at * 32, queue + at * 32 + 32)),
  ).filter((event) => Number(event['phase']) === 1);

describe('resource_manager', () => {
  it('carries out query_function alone before the device is enabled', () => {
    const { device, host } = makeHost();
    device.port.setEnabled(false);
    expect(host.execute(ManagementOpcode.createProtectionDomain).status).toBe(notEnabled);
    expect(host.execute(ManagementOpcode.queryFunction).status).toBe(success);
    expect(host.outputOf('query_function_output', 64)).toMatchObject({
      underlying_function: 1,
      event_queues: 8,
      queue_pairs: 62,
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
    expect(host.execute(ManagementOpcode.queryResources).status).toBe(success);
    const bytes = host.device.bytes.slice(host.output + 16, host.output + 16 + 9 * 16);
    const entries = Array.from({ length: 9 }, (_, at) =>
      decode('resource_allocation_request', bytes.slice(at * 16, at * 16 + 16)),
    );
    expect(entries).toMatchObject([
      { resource: Resource.virtualCollectBuffers, amount: 32, for_level: 0 },
      { resource: Resource.physicalCollectBuffers, amount: 4, for_level: 0 },
      { resource: Resource.physicalCollectBuffers, amount: 0, for_level: 1, quality_of_service_level: 0 },
      { resource: Resource.physicalCollectBuffers, amount: 0, for_level: 1, quality_of_service_level: 1 },
      { resource: Resource.transmitVirtualLanes, amount: 4, for_level: 1, quality_of_service_level: 0 },
      { resource: Resource.transmitVirtualLanes, amount: 4, for_level: 1, quality_of_service_level: 1 },
      { resource: Resource.queuePairs, amount: 62 },
      { resource: Resource.eventQueues, amount: 8 },
      { resource: Resource.protectionDomains, amount: 4095 },
    ]);
  });

  it.each([0, 63, ManagementOpcode.createCompletionQueue, ManagementOpcode.registerMemory, 255])(
    'does not know opcode %i',
    (opcode) => {
      const { host } = makeHost();
      expect(host.execute(opcode as ManagementOpcode)).toMatchObject({ status: unknownOpcode, opcode });
    },
  );

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

  describe('mailboxes', () => {
    it('reads a chain of pages', () => {
      const { device, host, domain } = makeHost({ pageTableEntries: 4096 });
      const pages = { send_entry_pages: 700, receive_entry_pages: 600 };
      const number = host.createQueuePair(domain, ServiceType.unreliableDatagram, pages);
      const control = decode('queue_pair_control', device.port.find(1, number).control!);
      const first = 0x1000 + 1 + 700 + 1; // the lists follow each other
      for (const at of [0, 1, 253, 254, 599])
        expect(device.port.translate(Number(control['receive_entry_pages']), BigInt(at) * 4096n)).toBe(
          BigInt(first + at) * 4096n,
        );
      expect(control).toMatchObject({ send_entry_bytes: 700 * 4096, receive_entry_bytes: 600 * 4096 });
    });

    it('reads pages that are not full', () => {
      const { device, host, domain } = makeHost();
      const input = createInput(domain, ServiceType.unreliableDatagram);
      host.post(createQueuePair, {}, input);
      const at = host.input + 16;
      const all = device.bytes.slice(at, at + 96 + 8 * 6);
      for (const [page, first, length] of [
        [0, 0, 40],
        [1, 40, 60],
        [2, 100, 44],
      ] as const) {
        const next = page < 2 ? device.address(host.input + (page + 1) * 4096) : 0n;
        device.bytes.set(encode('mailbox_header', { next, length }), host.input + page * 4096);
        device.bytes.set(all.subarray(first, first + length), at + page * 4096);
      }
      host.ring();
      device.runUntilIdle();
      const [answer] = host.takeAnswers();
      expect(answer!.status).toBe(success);
      const control = decode('queue_pair_control', device.port.find(1, Number(answer!.output)).control!);
      expect(device.port.translate(Number(control['receive_entry_pages']), 4096n)).toBe(0x1005n * 4096n);
    });

    it.each([
      ['a page that is missing', 0n, 4080, 0],
      ['a page that is not aligned', 512n, 4080, 0],
      ['a page with more than fits', 4096n, 4088, 0],
      ['an empty page', 4096n, 0, 0],
      ['a page with a reserved field', 4096n, 4080, 1],
    ])('refuses a chain with %s, and takes nothing', (_, next, length, reserved) => {
      const { device, host, domain } = makeHost({ pageTableEntries: 4096 });
      const before = holdings(device);
      const input = createInput(domain, ServiceType.unreliableDatagram, { send_entry_pages: 700 });
      host.post(createQueuePair, {}, input);
      const header = encode('mailbox_header', {
        next: next === 0n ? 0n : device.address(host.input) + next,
        length,
      });
      header[12] = reserved;
      device.bytes.set(header, host.input);
      host.ring();
      device.runUntilIdle();
      expect(host.takeAnswers()).toMatchObject([{ status: mailboxFault }]);
      expect(holdings(device)).toEqual(before);
    });

    it('answers a fault of every access to a mailbox, and takes nothing', () => {
      const { device, host, domain } = makeHost({ pageTableEntries: 4096 });
      const before = holdings(device);
      const input = createInput(domain, ServiceType.unreliableDatagram, { send_entry_pages: 600 });
      const begin = device.address(host.input);
      for (const page of [0n, 1n]) {
        device.port.setFaults([
          { underlyingFunction: 1, begin: begin + page * 4096n, end: begin + (page + 1n) * 4096n },
        ]);
        expect(host.execute(createQueuePair, {}, input).status).toBe(mailboxFault);
        expect(holdings(device)).toEqual(before);
      }
      const output = device.address(host.output);
      device.port.setFaults([{ underlyingFunction: 1, begin: output, end: output + 4096n }]);
      expect(host.execute(ManagementOpcode.queryFunction).status).toBe(mailboxFault);
    });

    it.each([
      ['input_mailbox', createQueuePair, { input_mailbox: 0n }],
      ['input_mailbox', createQueuePair, { input_mailbox: 64n }],
      ['input_length', createQueuePair, { input_length: 95 }],
      ['input_length', createQueuePair, { input_length: 96 + 8 * 7 }],
      ['output_mailbox', ManagementOpcode.queryFunction, { output_mailbox: 0n }],
      ['output_length', ManagementOpcode.queryFunction, { output_length: 63 }],
    ])('names %s', (field, opcode, wrong) => {
      const { host, domain } = makeHost();
      const input = createInput(domain, ServiceType.unreliableDatagram);
      expect(host.execute(opcode, wrong, input)).toMatchObject({
        status: badParameter,
        inMailbox: 0,
        output: bitOf('management_command', field),
      });
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

    it('run out with numbers', () => {
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

    it('come, and go with their page tables', () => {
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

    it('take an event for each answer', () => {
      const { device, host } = makeHost();
      const queue = makeEventQueue(host);
      host.createProtectionDomain();
      expect(eventsOf(device, queue)).toMatchObject([
        { type: EventType.managementCompletion, object: 1 },
        { type: EventType.managementCompletion, object: 2 },
      ]);
    });
  });

  describe('create_queue_pair', () => {
    it.each([
      ['service_type', { service_type: ServiceType.reliableDatagram }],
      ['service_type', { service_type: 9 }],
      ['quality_of_service_level', { quality_of_service_level: 2 }],
      ['send_queue_log2', { send_queue_log2: 16 }],
      ['receive_queue_log2', { receive_queue_log2: 16 }],
      ['send_completion_queue', { send_completion_queue: 1 }],
      ['receive_completion_queue', { receive_completion_queue: 1 }],
      ['shared_receive_queue', { shared_receive_queue: 1 }],
      ['send_queue_pages', { send_queue_pages: 2 }],
      ['send_queue_pages', { send_queue_pages: 0 }],
      ['send_entry_pages', { send_entry_pages: 0 }],
      ['receive_queue_pages', { receive_queue_pages: 0 }],
      ['receive_entry_pages', { receive_entry_pages: 0 }],
      ['receive_tail_address', { receive_tail_address: 4n }],
    ])('names the field %s that is wrong: %o', (field, wrong) => {
      const { device, host, domain } = makeHost();
      const before = holdings(device);
      const input = createInput(domain, ServiceType.reliableConnection, wrong);
      expect(host.execute(createQueuePair, {}, input)).toMatchObject({
        status: badParameter,
        inMailbox: 1,
        output: bitOf('create_queue_pair_input', field),
      });
      expect(holdings(device)).toEqual(before);
    });

    it('makes one without a receive queue', () => {
      const { device, host, domain } = makeHost();
      const number = host.createQueuePair(domain, ServiceType.unreliableConnection, {
        receive_queue_pages: 0,
        receive_entry_pages: 0,
      });
      const control = decode('queue_pair_control', device.port.find(1, number).control!);
      expect(device.port.translate(Number(control['receive_queue_pages']), 0n)).toBeNull();
      host.succeed(destroyQueuePair, { input_modifier: number });
    });

    it("needs a protection domain of the function's own", () => {
      const { device, host } = makeHost();
      const other = new ManagedFunction(device, 2);
      const before = holdings(device);
      const input = createInput(1, ServiceType.reliableConnection);
      expect(other.execute(createQueuePair, {}, input).status).toBe(badObject);
      expect(host.execute(createQueuePair, {}, createInput(0, 0)).status).toBe(badObject);
      expect(holdings(device)).toEqual(before);
    });

    it.each([0, 1, 4, 5, 6])(
      'names entry %i of the page lists that is not valid, and takes nothing',
      (entry) => {
        const { device, host, domain } = makeHost();
        const before = holdings(device);
        const [input, list] = createInput(domain, ServiceType.reliableConnection) as [Uint8Array, Uint8Array];
        list.fill(0, entry * 8, entry * 8 + 8);
        const wrong = host.execute(createQueuePair, {}, entry < 6 ? [input, list] : [input, list, list]);
        expect(wrong.status).toBe(badParameter);
        if (entry < 6) expect(wrong).toMatchObject({ inMailbox: 1, output: BigInt((96 + entry * 8) * 8) });
        expect(holdings(device)).toEqual(before);
      },
    );

    it('says how much context memory is left when it is used up, and leaks nothing', () => {
      const { device, host, domain } = makeHost({ pageTableEntries: 256 });
      const ask = (pages: number): ReturnType<ManagedFunction['execute']> =>
        host.execute(
          createQueuePair,
          {},
          createInput(domain, ServiceType.reliableConnection, { receive_entry_pages: pages }),
        );
      const before = holdings(device);
      // 8 entries each for the first three lists: the longest run for the fourth is 128.
      expect(ask(129)).toMatchObject({
        status: noResources,
        resource: Resource.contextMemory,
        asked: 129,
        left: 128,
      });
      expect(holdings(device)).toEqual(before);
      const made: number[] = [];
      let answer = ask(8);
      for (; answer.status === success; answer = ask(8)) made.push(Number(answer.output));
      expect(made).toHaveLength(256 / 32);
      expect(answer).toMatchObject({
        status: noResources,
        resource: Resource.contextMemory,
        asked: 1,
        left: 0,
      });
      for (const number of made) host.succeed(destroyQueuePair, { input_modifier: number });
      expect(holdings(device)).toEqual(before);
      expect(device.port.verify()).toBeNull();
    });

    it('says that the queue pairs are used up', () => {
      const { device, host, domain } = makeHost({ queuePairs: 4 });
      for (let made = 0; made < 2; ++made) host.createQueuePair(domain);
      const before = holdings(device);
      expect(
        host.execute(createQueuePair, {}, createInput(domain, ServiceType.reliableConnection)),
      ).toMatchObject({
        status: noResources,
        resource: Resource.queuePairs,
        asked: 1,
        left: 0,
      });
      expect(holdings(device)).toEqual(before);
    });

    it.each([
      ['context memory', 0x10_0000n],
      ['the contexts', 64n * 512n],
    ])('takes nothing when %s cannot be reached', (_, bytes) => {
      const { device, host, domain } = makeHost({ queuePairContextsCached: 2 });
      for (let made = 0; made < 2; ++made) host.createQueuePair(domain);
      const before = holdings(device);
      const begin = device.address(device.contextMemory);
      device.port.setFaults([{ underlyingFunction: 0, begin, end: begin + bytes }]);
      expect(
        host.execute(createQueuePair, {}, createInput(domain, ServiceType.reliableConnection)).status,
      ).toBe(contextMemoryFault);
      expect(holdings(device)).toEqual(before);
    });
  });

  it("keeps a guest from another function's queue pair", () => {
    const { device, host, domain } = makeHost();
    const guest = new ManagedFunction(device, 2);
    const number = host.createQueuePair(domain);
    const before = device.port.find(1, number);
    const attributes = goodAttributes(maskOf(QueuePairAttribute.state), QueuePairState.error);
    expect(guest.modify(number, attributes).status).toBe(badObject);
    for (const opcode of [queryQueuePair, destroyQueuePair])
      expect(guest.execute(opcode, { input_modifier: number }).status).toBe(badObject);
    expect(device.port.enterError(2, number)).toBe(false);
    expect(device.port.find(1, number)).toEqual(before);
  });

  describe('a queue pair in use', () => {
    const reset = goodAttributes(maskOf(QueuePairAttribute.state), QueuePairState.reset);

    it.each([
      ['destroy', destroyQueuePair, []],
      ['modify to RESET', modifyQueuePair, [encode('queue_pair_attributes', reset)]],
    ] as const)('holds up %s until nothing refers to it, and nothing else', (_, opcode, inputs) => {
      const { device, host, domain } = makeHost();
      const number = host.createQueuePair(domain);
      device.port.setState(1, number, QueuePairState.readyToSend);
      for (let pin = 0; pin < 3; ++pin) expect(device.port.pin(number)).toBe(true);
      host.post(opcode, { input_modifier: number }, inputs);
      host.ring();
      device.runUntilIdle();
      expect(host.takeAnswers()).toEqual([]);
      expect(device.port.pin(number)).toBe(false);
      // Others go on; this one can neither be modified nor destroyed once more.
      expect(host.execute(destroyQueuePair, { input_modifier: number }).status).toBe(badState);
      expect(host.modify(number, reset).status).toBe(badState);
      expect(host.query(number)['in_flight']).toBe(3);
      for (let pin = 0; pin < 3; ++pin) {
        expect(host.takeAnswers()).toEqual([]);
        device.port.unpin(number);
        device.runUntilIdle();
      }
      expect(host.takeAnswers()).toMatchObject([{ opcode, status: success, sequenceNumber: 2 }]);
      const isThere = opcode === modifyQueuePair;
      expect(device.port.find(1, number).absence === 0).toBe(isThere);
      expect(device.port.pin(number)).toBe(isThere);
      expect(device.port.verify()).toBeNull();
    });

    it.each([0, 1, 2, 3])('is in RESET when what was on its way on link %i has passed', (link) => {
      const { device, host, domain } = makeHost();
      const number = host.createQueuePair(domain);
      device.port.setState(1, number, QueuePairState.readyToSend);
      for (let unit = 0; unit < 2; ++unit) device.port.pushUnpinned(link);
      host.post(modifyQueuePair, { input_modifier: number }, [encode('queue_pair_attributes', reset)]);
      host.ring();
      for (let unit = 0; unit < 2; ++unit) {
        for (let step = 0; step < 10; ++step) expect(device.port.step()).toBe(true);
        expect(host.takeAnswers()).toEqual([]);
        expect(device.port.pin(number)).toBe(false);
        // What comes later does not hold it up.
        device.port.pushUnpinned(link);
        device.port.popUnpinned(link);
      }
      device.runUntilIdle();
      expect(host.takeAnswers()).toMatchObject([{ status: success }]);
      expect(device.port.pin(number)).toBe(true);
    });

    it('does not report a send queue as drained that has failed', () => {
      const { device, host, domain } = makeHost();
      const queue = makeEventQueue(host);
      const number = host.createQueuePair(domain);
      device.port.setState(1, number, QueuePairState.readyToSend);
      expect(device.port.pin(number)).toBe(true);
      const drain = maskOf(QueuePairAttribute.state, QueuePairAttribute.drainedEvent);
      const attributes = goodAttributes(drain, QueuePairState.sendQueueDrained);
      expect(host.modify(number, { ...attributes, drained_event: 1 }).status).toBe(success);
      expect(device.port.enterError(1, number)).toBe(true);
      device.port.unpin(number);
      device.runUntilIdle();
      expect(eventsOf(device, queue).filter(({ type }) => type === EventType.sendQueueDrained)).toEqual([]);
    });

    it('reports once that its send queue is drained, when this is asked for', () => {
      const { device, host, domain } = makeHost();
      const queue = makeEventQueue(host);
      const number = host.createQueuePair(domain);
      const drained = (): number =>
        eventsOf(device, queue).filter(({ type }) => type === EventType.sendQueueDrained).length;
      const drain = maskOf(QueuePairAttribute.state, QueuePairAttribute.drainedEvent);
      const toDrained = goodAttributes(drain, QueuePairState.sendQueueDrained);
      const toSend = goodAttributes(maskOf(QueuePairAttribute.state), QueuePairState.readyToSend);
      device.port.setState(1, number, QueuePairState.readyToSend);
      for (const [wanted, expected] of [
        [0, 0],
        [1, 1],
        [0, 1],
        [1, 2],
      ] as const) {
        expect(device.port.pin(number)).toBe(true);
        const before = drained();
        expect(host.modify(number, { ...toDrained, drained_event: wanted }).status).toBe(success);
        expect(drained()).toBe(before);
        device.port.unpin(number);
        device.runUntilIdle();
        expect(drained()).toBe(expected);
        expect(device.port.pin(number)).toBe(true);
        device.port.unpin(number);
        device.runUntilIdle();
        expect(drained()).toBe(expected);
        expect(host.modify(number, toSend).status).toBe(success);
      }
    });

    it('is told to queue_pair_fetch when it becomes RTS or ERR, as soon as there is a credit', () => {
      const { device, host, domain } = makeHost();
      const number = host.createQueuePair(domain, ServiceType.unreliableDatagram);
      const go = (state: QueuePairState, ...more: QueuePairAttribute[]): void => {
        const mask = maskOf(QueuePairAttribute.state, ...more);
        expect(host.modify(number, goodAttributes(mask, state)).status).toBe(success);
      };
      const { partitionKeyIndex, port, queueKey, sendPsn } = QueuePairAttribute;
      go(QueuePairState.init, partitionKeyIndex, port, queueKey);
      go(QueuePairState.readyToReceive);
      expect(device.port.takeResumed()).toEqual([]);
      go(QueuePairState.readyToSend, sendPsn);
      const told = [{ underlyingFunction: 1, queuePairNumber: number }];
      expect(device.port.takeResumed()).toEqual(told);
      device.port.setSendQueueCredit(false);
      host.post(modifyQueuePair, { input_modifier: number }, [
        encode(
          'queue_pair_attributes',
          goodAttributes(maskOf(QueuePairAttribute.state), QueuePairState.error),
        ),
      ]);
      host.post(ManagementOpcode.createProtectionDomain);
      host.ring();
      for (let step = 0; step < 20; ++step) expect(device.port.step()).toBe(true);
      expect(device.port.takeResumed()).toEqual([]);
      device.port.setSendQueueCredit(true);
      device.runUntilIdle();
      expect(device.port.takeResumed()).toEqual(told);
      expect(host.takeAnswers()).toMatchObject([{ status: success }, { status: success }]);
    });
  });
});
