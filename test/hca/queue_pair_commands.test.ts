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
import { bytesOf, links } from '../helpers/wiring.ts';
import { ManagedFunction, eventsOf, holdings, makeEventQueue, makeHost } from './managed_function.ts';
import { bitOf, createInput, goodAttributes, maskOf } from './management_inputs.ts';

const { success, badParameter, badObject, badState, noResources } = ManagementStatus;
const { contextMemoryFault } = ManagementStatus;
const { createQueuePair, destroyQueuePair, modifyQueuePair, queryQueuePair } = ManagementOpcode;

/** A data unit of zeros, of a link. */
const emptyUnit = (name: string): Uint8Array =>
  new Uint8Array(bytesOf(links.find((link) => link.name === name)!));

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

  it('creates one without a receive queue', () => {
    const { device, host, domain } = makeHost();
    const number = host.createQueuePair(domain, ServiceType.unreliableConnection, {
      receive_queue_pages: 0,
      receive_entry_pages: 0,
    });
    const control = decode('queue_pair_control', device.port.find(1, number).control!);
    expect(device.port.translate(Number(control['receive_queue_pages']), 0n)).toBeNull();
    host.succeed(destroyQueuePair, { input_modifier: number });
  });

  it('needs a protection domain of the same function', () => {
    const { device, host } = makeHost();
    const other = new ManagedFunction(device, 2);
    const before = holdings(device);
    const input = createInput(1, ServiceType.reliableConnection);
    expect(other.execute(createQueuePair, {}, input).status).toBe(badObject);
    expect(host.execute(createQueuePair, {}, createInput(0, 0)).status).toBe(badObject);
    expect(holdings(device)).toEqual(before);
  });

  it.each([0, 1, 4, 5, 6])('names the invalid entry %i of the page lists, and allocates nothing', (entry) => {
    const { device, host, domain } = makeHost();
    const before = holdings(device);
    const [input, list] = createInput(domain, ServiceType.reliableConnection) as [Uint8Array, Uint8Array];
    list.fill(0, entry * 8, entry * 8 + 8);
    const wrong = host.execute(createQueuePair, {}, entry < 6 ? [input, list] : [input, list, list]);
    expect(wrong.status).toBe(badParameter);
    if (entry < 6) expect(wrong).toMatchObject({ inMailbox: 1, output: BigInt((96 + entry * 8) * 8) });
    expect(holdings(device)).toEqual(before);
  });

  it('reports the remaining context memory when it is exhausted, and leaks nothing', () => {
    const { device, host, domain } = makeHost({ pageTableEntries: 256 });
    const ask = (pages: number): ReturnType<ManagedFunction['execute']> =>
      host.execute(
        createQueuePair,
        {},
        createInput(domain, ServiceType.reliableConnection, { receive_entry_pages: pages }),
      );
    const before = holdings(device);
    // The first three lists take 8 entries each: the longest run for the fourth is 128.
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

  it('reports that the queue pairs are exhausted', () => {
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
  ])('allocates nothing if %s cannot be accessed', (_, bytes) => {
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

describe('a queue pair', () => {
  it("refuses a guest access to another function's queue pair", () => {
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

  describe('in use', () => {
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
      // Other queue pairs continue; this one can be neither modified nor destroyed again.
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

    const unpinned = ['kicks_collected', 'kicks_scheduled', 'kicks_started', 'post_notices'];
    it.each(unpinned)('is in RESET once the data units in flight on %s have passed', (link) => {
      const { device, host, domain } = makeHost();
      const none = emptyUnit(link);
      const number = host.createQueuePair(domain);
      device.port.setState(1, number, QueuePairState.readyToSend);
      for (let unit = 0; unit < 2; ++unit) device.port.push(link, none);
      host.post(modifyQueuePair, { input_modifier: number }, [encode('queue_pair_attributes', reset)]);
      host.ring();
      for (let unit = 0; unit < 2; ++unit) {
        for (let step = 0; step < 10; ++step) expect(device.port.step()).toBe(true);
        expect(host.takeAnswers()).toEqual([]);
        expect(device.port.pin(number)).toBe(false);
        // Later accesses do not delay it.
        device.port.push(link, none);
        device.port.pop(link);
      }
      device.runUntilIdle();
      expect(host.takeAnswers()).toMatchObject([{ status: success }]);
      expect(device.port.pin(number)).toBe(true);
    });

    it('does not report a failed send queue as drained', () => {
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

    it('reports once, on request, that its send queue is drained', () => {
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

    it('is announced to queue_pair_fetch when it becomes RTS, as soon as there is a credit', () => {
      const { device, host, domain } = makeHost();
      const number = host.createQueuePair(domain, ServiceType.unreliableDatagram);
      const link = 'schedule_requests';
      const go = (state: QueuePairState, ...more: QueuePairAttribute[]): void => {
        const mask = maskOf(QueuePairAttribute.state, ...more);
        expect(host.modify(number, goodAttributes(mask, state)).status).toBe(success);
      };
      const { partitionKeyIndex, port, queueKey, sendPsn } = QueuePairAttribute;
      go(QueuePairState.init, partitionKeyIndex, port, queueKey);
      go(QueuePairState.readyToReceive);
      // A command is posted; after the notice, queue_pair_fetch requests it from send_queue_scheduler.
      const postOne = (): void => {
        const requester = encode('queue_pair_requester', { next: 0, posted: 0 });
        expect(device.port.setRequester(1, number, requester)).toBe(true);
      };
      const asked = (): unknown => {
        const request = device.port.pop(link);
        return request === null ? undefined : decode('schedule_request', request);
      };
      const told = { underlying_function: 1, queue_pair_number: number };
      postOne();
      expect(asked()).toBeUndefined();
      go(QueuePairState.readyToSend, sendPsn);
      expect(asked()).toMatchObject(told);
      expect(asked()).toBeUndefined();
      postOne();
      device.port.unpin(number);
      go(QueuePairState.sendQueueDrained);
      expect(asked()).toBeUndefined();
      let credits = 0;
      for (; device.port.credits(link) > 0; credits++) device.port.push(link, emptyUnit(link));
      host.post(modifyQueuePair, { input_modifier: number }, [
        encode(
          'queue_pair_attributes',
          goodAttributes(maskOf(QueuePairAttribute.state), QueuePairState.readyToSend),
        ),
      ]);
      host.post(ManagementOpcode.createProtectionDomain);
      host.ring();
      for (let step = 0; step < 20; ++step) expect(device.port.step()).toBe(true);
      for (; credits > 0; credits--) expect(asked()).toMatchObject({ queue_pair_number: 0 });
      expect(asked()).toBeUndefined();
      device.runUntilIdle();
      expect(asked()).toMatchObject(told);
      expect(host.takeAnswers()).toMatchObject([{ status: success }, { status: success }]);
    });
  });
});
