import { describe, expect, it } from 'vitest';

import {
  EventType,
  ManagementOpcode,
  ManagementStatus,
  QueuePairState,
  Resource,
  ServiceType,
  encode,
} from '../../lib/spec/index.ts';
import {
  ManagedFunction,
  eventsOf,
  holdings,
  makeEventQueue,
  makeHost,
  type ManagedDevice,
} from './managed_function.ts';
import { bitOf, createInput, pageList } from './management_inputs.ts';

const { badObject, badParameter, badState, inUse, noResources } = ManagementStatus;
const { createCompletionQueue, createQueuePair, destroyCompletionQueue, destroyQueuePair } = ManagementOpcode;

type Fields = Parameters<typeof encode>[1];

/** Input of create_completion_queue: 16 entries on a page of the host. */
function queueInput(device: ManagedDevice, fields: Fields = {}): Uint8Array[] {
  const pages = Number(fields['pages'] ?? 1);
  const first = device.allocate(Math.max(1, pages) * 4096);
  const input = { entries_log2: 4, pages, head_address: device.address(device.allocate(8)), ...fields };
  return [
    encode('create_completion_queue_input', input),
    pageList(pages, Number(device.address(first) >> 12n)),
  ];
}

const make = (host: ManagedFunction, fields: Fields = {}): number =>
  host.succeed(createCompletionQueue, {}, queueInput(host.device, fields));

describe('create_completion_queue', () => {
  it.each([
    ['event_queue', { event_queue: 8 }],
    ['entries_log2', { entries_log2: 16 }],
    ['pages', { pages: 2 }],
    ['pages', { entries_log2: 7 }],
    ['pages', { variable: 1 }],
    ['head_address', { head_address: 4n }],
  ])('names the field %s that is wrong: %o', (field, wrong) => {
    const { device, host } = makeHost();
    const before = holdings(device);
    expect(host.execute(createCompletionQueue, {}, queueInput(device, wrong))).toMatchObject({
      status: badParameter,
      inMailbox: 1,
      output: bitOf('create_completion_queue_input', field),
    });
    expect(holdings(device)).toEqual(before);
  });

  it('checks reserved fields and the length of the page list', () => {
    const { device, host } = makeHost();
    const [input, list] = queueInput(device) as [Uint8Array, Uint8Array];
    expect(host.execute(createCompletionQueue, {}, [input, list, list])).toMatchObject({
      status: badParameter,
      inMailbox: 0,
      output: bitOf('management_command', 'input_length'),
    });
    input[31] = 1;
    expect(host.execute(createCompletionQueue, {}, [input, list])).toMatchObject({
      status: badParameter,
      output: 2n ** 64n - 1n,
    });
  });

  it.each([
    [0, 0, 1],
    [6, 0, 1],
    [7, 0, 2],
    [15, 0, 512],
    [0, 1, 2],
    [9, 1, 9],
    [10, 1, 18],
    [15, 1, 576],
  ])('of 2^%i entries, variable %i, takes %i pages', (entriesLog2, variable, pages) => {
    const { device, host } = makeHost({ memoryBytes: 8 << 20, pageTableEntries: 2048 });
    const [before] = holdings(device);
    const number = make(host, { entries_log2: entriesLog2, variable, pages });
    expect(number).toBe(1);
    expect(device.port.entriesFree()).toBeLessThan(before!);
    host.succeed(destroyCompletionQueue, { input_modifier: number });
    expect(device.port.entriesFree()).toBe(before);
  });

  it('reports that all are in use, and leaks nothing', () => {
    const { device, host } = makeHost({ completionQueues: 4 });
    expect([make(host), make(host), make(host)]).toEqual([1, 2, 3]);
    const before = holdings(device);
    expect(host.execute(createCompletionQueue, {}, queueInput(device))).toMatchObject({
      status: noResources,
      resource: Resource.completionQueues,
      asked: 1,
      left: 0,
    });
    expect(holdings(device)).toEqual(before);
    expect(device.port.verify()).toBeNull();
  });
});

describe('resize_completion_queue', () => {
  const { resizeCompletionQueue } = ManagementOpcode;
  const input = (device: ManagedDevice, fields: Fields = {}): Uint8Array[] => {
    const pages = Number(fields['pages'] ?? 1);
    const first = device.allocate(Math.max(1, pages) * 4096);
    return [
      encode('resize_completion_queue_input', { entries_log2: 6, pages, ...fields }),
      pageList(pages, Number(device.address(first) >> 12n)),
    ];
  };

  it('replaces the pages by those of the new size, and returns the tail', () => {
    const { device, host } = makeHost();
    const number = make(host);
    const [before] = holdings(device);
    for (let count = 0; count < 3; count++) expect(device.port.writeCompletion(1, number)).toBe(true);
    const larger = input(device, { entries_log2: 10, pages: 16 });
    expect(host.succeed(resizeCompletionQueue, { input_modifier: number }, larger)).toBe(3);
    expect(device.port.entriesFree()).toBeLessThan(before!);
    expect(host.succeed(resizeCompletionQueue, { input_modifier: number }, input(device))).toBe(3);
    expect(device.port.entriesFree()).toBe(before);
    host.succeed(destroyCompletionQueue, { input_modifier: number });
    expect(device.port.verify()).toBeNull();
  });

  it.each([
    ['entries_log2', { entries_log2: 16 }],
    ['entries_log2', { entries_log2: 1 }],
    ['pages', { pages: 2 }],
    ['pages', { entries_log2: 7 }],
  ])('names the field %s that is wrong: %o', (field, wrong) => {
    const { device, host } = makeHost();
    const number = make(host);
    for (let count = 0; count < 3; count++) device.port.writeCompletion(1, number);
    const before = holdings(device);
    expect(
      host.execute(resizeCompletionQueue, { input_modifier: number }, input(device, wrong)),
    ).toMatchObject({
      status: badParameter,
      inMailbox: 1,
      output: bitOf('resize_completion_queue_input', field),
    });
    expect(holdings(device)).toEqual(before);
  });

  it('checks the object, reserved fields, the length of the page list, and errors', () => {
    const { device, host } = makeHost();
    const number = make(host, { entries_log2: 0 });
    const other = make(new ManagedFunction(device, 2));
    const execute = (object: number, words = input(device)): unknown =>
      host.execute(resizeCompletionQueue, { input_modifier: object }, words);
    for (const wrong of [0, 99, other]) expect(execute(wrong)).toMatchObject({ status: badObject });
    const [head, list] = input(device) as [Uint8Array, Uint8Array];
    expect(execute(number, [head, list, list])).toMatchObject({
      status: badParameter,
      inMailbox: 0,
      output: bitOf('management_command', 'input_length'),
    });
    const reserved = head.slice();
    reserved[7] = 1;
    expect(execute(number, [reserved, list])).toMatchObject({ status: badParameter, output: 2n ** 64n - 1n });
    expect(device.port.writeCompletion(1, number)).toBe(true);
    expect(device.port.writeCompletion(1, number)).toBe(false);
    const before = holdings(device);
    expect(execute(number)).toMatchObject({ status: badState });
    expect(holdings(device)).toEqual(before);
  });
});

describe('moderate_completion_queue', () => {
  const { moderateCompletionQueue } = ManagementOpcode;

  it('checks the object, reserved fields and the length of its input', () => {
    const { device, host } = makeHost();
    const number = make(host);
    const other = make(new ManagedFunction(device, 2));
    const input = encode('moderate_completion_queue_input', { count: 65535, period: 65535 });
    const execute = (object: number, words = [input]): unknown =>
      host.execute(moderateCompletionQueue, { input_modifier: object }, words);
    expect(execute(number)).toMatchObject({ status: ManagementStatus.success });
    for (const wrong of [0, 99, other]) expect(execute(wrong)).toMatchObject({ status: badObject });
    expect(execute(number, [input, input])).toMatchObject({
      status: badParameter,
      output: bitOf('management_command', 'input_length'),
    });
    const reserved = input.slice();
    reserved[4] = 1;
    expect(execute(number, [reserved])).toMatchObject({ status: badParameter, output: 2n ** 64n - 1n });
  });
});

describe('destroy_completion_queue', () => {
  it('refuse queues that do not exist, are destroyed, or belong to another function', () => {
    const { device, host } = makeHost();
    const other = new ManagedFunction(device, 2);
    const number = make(host);
    for (const wrong of [0, number + 1, 4096, 0xffff_ffff])
      expect(host.execute(destroyCompletionQueue, { input_modifier: wrong }).status).toBe(badObject);
    expect(other.execute(destroyCompletionQueue, { input_modifier: number }).status).toBe(badObject);
    host.succeed(destroyCompletionQueue, { input_modifier: number });
    expect(host.execute(destroyCompletionQueue, { input_modifier: number }).status).toBe(badObject);
  });

  it.each(['send', 'receive', 'both'])('refuses while a queue pair names it: %s', (which) => {
    const { device, host, domain } = makeHost();
    const number = make(host);
    const queuePair = host.createQueuePair(domain, ServiceType.reliableConnection, {
      send_completion_queue: which === 'receive' ? 0 : number,
      receive_completion_queue: which === 'send' ? 0 : number,
    });
    expect(host.execute(destroyCompletionQueue, { input_modifier: number }).status).toBe(inUse);
    expect(device.port.writeCompletion(1, number)).toBe(true);
    host.succeed(destroyQueuePair, { input_modifier: queuePair });
    host.succeed(destroyCompletionQueue, { input_modifier: number });
    expect(device.port.writeCompletion(1, number)).toBe(false);
    expect(device.port.verify()).toBeNull();
  });
});

describe('a queue pair and its completion queues', () => {
  it.each(['send_completion_queue', 'receive_completion_queue'])('must be of one function: %s', (field) => {
    const { device, host } = makeHost();
    const foreign = make(new ManagedFunction(device, 2));
    const domain = host.createProtectionDomain();
    const before = holdings(device);
    const input = createInput(domain, ServiceType.reliableConnection, { [field]: foreign });
    expect(host.execute(createQueuePair, {}, input)).toMatchObject({
      status: badParameter,
      inMailbox: 1,
      output: bitOf('create_queue_pair_input', field),
    });
    expect(holdings(device)).toEqual(before);
  });

  it('are named by a query', () => {
    const { host, domain } = makeHost();
    const [send, receive] = [make(host), make(host)];
    const number = host.createQueuePair(domain, ServiceType.reliableConnection, {
      send_completion_queue: send,
      receive_completion_queue: receive,
    });
    expect(host.query(number)).toMatchObject({
      send_completion_queue: send,
      receive_completion_queue: receive,
    });
    expect(host.query(host.createQueuePair(domain))).toMatchObject({
      send_completion_queue: 0,
      receive_completion_queue: 0,
    });
  });

  it('cannot be created with one in error', () => {
    const { device, host, domain } = makeHost();
    const events = makeEventQueue(host);
    const number = make(host, { entries_log2: 0 });
    expect(device.port.writeCompletion(1, number)).toBe(true);
    expect(device.port.writeCompletion(1, number)).toBe(false);
    const input = createInput(domain, ServiceType.reliableConnection, { send_completion_queue: number });
    expect(host.execute(createQueuePair, {}, input).status).toBe(badState);
    expect(eventsOf(device, events)).toContainEqual(
      expect.objectContaining({ type: EventType.completionQueueError, object: number }),
    );
    host.succeed(destroyCompletionQueue, { input_modifier: number });
  });

  it('are removed with their function', () => {
    const { device, host, domain } = makeHost();
    const other = new ManagedFunction(device, 2);
    const number = make(host);
    const kept = make(other);
    host.createQueuePair(domain, ServiceType.reliableConnection, { send_completion_queue: number });
    device.port.resetFunction(1);
    const accesses = device.port.accessesOf(1);
    expect(device.port.writeCompletion(1, number)).toBe(false);
    expect(device.port.accessesOf(1)).toBe(accesses);
    expect(device.port.writeCompletion(2, kept)).toBe(true);
    host.begin();
    expect(make(host)).toBe(number);
    host.succeed(destroyCompletionQueue, { input_modifier: number });
    expect(device.port.verify()).toBeNull();
  });

  it('remain after a reset of a queue pair', () => {
    const { host, domain } = makeHost();
    const number = make(host);
    const queuePair = host.createQueuePair(domain, ServiceType.reliableConnection, {
      send_completion_queue: number,
    });
    host.modify(queuePair, { attribute_mask: 1, state: QueuePairState.reset });
    expect(host.query(queuePair)).toMatchObject({ send_completion_queue: number });
    expect(host.execute(destroyCompletionQueue, { input_modifier: number }).status).toBe(inUse);
  });
});
