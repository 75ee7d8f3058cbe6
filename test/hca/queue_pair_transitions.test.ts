import { describe, expect, it } from 'vitest';

import {
  ManagementStatus,
  QueuePairAttribute as A,
  QueuePairState as S,
  ServiceType,
  decode,
  encode,
} from '../../lib/spec/index.ts';
import { ManagedDevice, ManagedFunction } from './managed_function.ts';
import { bitOf, goodAttributes, maskOf } from './management_inputs.ts';

interface Transition {
  required: A[];
  optional: A[];
}

// Transitions of each service as in InfiniBand volume 1, 11.2.5.2, in this test's own notation: `from>to`.
// Any state → RESET and any state → ERR are the same for all, and need no attribute.
const rcOptional = [A.accessFlags, A.minReceiverNotReadyTimer];
const transitions: Record<number, Record<string, Transition>> = {
  [ServiceType.reliableConnection]: {
    'reset>init': { required: [A.partitionKeyIndex, A.port, A.accessFlags], optional: [] },
    'init>init': { required: [], optional: [A.partitionKeyIndex, A.port, A.accessFlags] },
    'init>readyToReceive': {
      required: [
        A.addressVector,
        A.pathMtu,
        A.destinationQueuePair,
        A.receivePsn,
        A.maxDestinationReadAtomic,
        A.minReceiverNotReadyTimer,
      ],
      optional: [A.accessFlags, A.partitionKeyIndex, A.endToEndCredits],
    },
    'readyToReceive>readyToSend': {
      required: [A.timeout, A.retryCount, A.receiverNotReadyRetry, A.sendPsn, A.maxReadAtomic],
      optional: rcOptional,
    },
    'readyToSend>readyToSend': { required: [], optional: rcOptional },
    'readyToSend>sendQueueDrained': { required: [], optional: [A.drainedEvent] },
    'sendQueueDrained>sendQueueDrained': {
      required: [],
      optional: [
        A.addressVector,
        A.partitionKeyIndex,
        A.port,
        A.timeout,
        A.retryCount,
        A.receiverNotReadyRetry,
        A.maxReadAtomic,
        A.maxDestinationReadAtomic,
        ...rcOptional,
      ],
    },
    'sendQueueDrained>readyToSend': { required: [], optional: rcOptional },
  },
  [ServiceType.unreliableConnection]: {
    'reset>init': { required: [A.partitionKeyIndex, A.port, A.accessFlags], optional: [] },
    'init>init': { required: [], optional: [A.partitionKeyIndex, A.port, A.accessFlags] },
    'init>readyToReceive': {
      required: [A.addressVector, A.pathMtu, A.destinationQueuePair, A.receivePsn],
      optional: [A.accessFlags, A.partitionKeyIndex],
    },
    'readyToReceive>readyToSend': { required: [A.sendPsn], optional: [A.accessFlags] },
    'readyToSend>readyToSend': { required: [], optional: [A.accessFlags] },
    'readyToSend>sendQueueDrained': { required: [], optional: [A.drainedEvent] },
    'sendQueueDrained>sendQueueDrained': {
      required: [],
      optional: [A.addressVector, A.partitionKeyIndex, A.accessFlags],
    },
    'sendQueueDrained>readyToSend': { required: [], optional: [A.accessFlags] },
    'sendQueueError>readyToSend': { required: [], optional: [A.accessFlags] },
  },
  [ServiceType.unreliableDatagram]: {
    'reset>init': { required: [A.partitionKeyIndex, A.port, A.queueKey], optional: [] },
    'init>init': { required: [], optional: [A.partitionKeyIndex, A.port, A.queueKey] },
    'init>readyToReceive': { required: [], optional: [A.partitionKeyIndex, A.queueKey] },
    'readyToReceive>readyToSend': { required: [A.sendPsn], optional: [A.queueKey] },
    'readyToSend>readyToSend': { required: [], optional: [A.queueKey] },
    'readyToSend>sendQueueDrained': { required: [], optional: [A.drainedEvent] },
    'sendQueueDrained>sendQueueDrained': { required: [], optional: [A.partitionKeyIndex, A.queueKey] },
    'sendQueueDrained>readyToSend': { required: [], optional: [A.queueKey] },
    'sendQueueError>readyToSend': { required: [], optional: [A.queueKey] },
  },
};

const stateNames = Object.keys(S) as (keyof typeof S)[];
const attributes = Object.values(A);
const bare: Transition = { required: [], optional: [] };

const transitionOf = (
  service: ServiceType,
  from: keyof typeof S,
  to: keyof typeof S,
): Transition | undefined => {
  // A connection may end with another number for peers (US7095750).
  if (to === 'reset' && service !== ServiceType.unreliableDatagram)
    return { required: [], optional: [A.newNumber] };
  return to === 'reset' || to === 'error' ? bare : transitions[service]?.[`${from}>${to}`];
};

const services = [
  ['RC', ServiceType.reliableConnection],
  ['UC', ServiceType.unreliableConnection],
  ['UD', ServiceType.unreliableDatagram],
] as const;

class Subject {
  readonly device = new ManagedDevice();
  readonly host = new ManagedFunction(this.device, 1);
  readonly number: number;

  constructor(service: ServiceType) {
    this.number = this.host.createQueuePair(this.host.createProtectionDomain(), service);
  }

  parts(): string {
    const { control, requester, responder } = this.device.port.find(1, this.number);
    return [control, requester, responder].map((part) => Buffer.from(part ?? []).toString('hex')).join('\n');
  }

  state(): number {
    return Number(decode('queue_pair_control', this.device.port.find(1, this.number).control!)['state']);
  }

  /** Requests a transition, and checks that a refusal modified nothing. */
  ask(from: S, to: S, mask: number): { status: number; output: bigint } {
    this.device.port.setState(1, this.number, from);
    const before = this.parts();
    const answer = this.host.modify(this.number, goodAttributes(mask, to));
    if (answer.status !== ManagementStatus.success) expect(this.parts()).toBe(before);
    else expect(this.state()).toBe(to);
    return { status: answer.status, output: answer.output };
  }
}

describe.each(services)('transitions of %s', (_, service) => {
  const subject = new Subject(service);

  for (const from of stateNames)
    for (const to of stateNames) {
      const transition = transitionOf(service, from, to);
      if (transition === undefined) {
        it(`refuses ${from} → ${to} with any attributes`, () => {
          for (const mask of [maskOf(A.state), maskOf(...attributes)])
            expect(subject.ask(S[from], S[to], mask)).toEqual({
              status: ManagementStatus.badState,
              output: 0n,
            });
        });
        continue;
      }
      const required = [A.state, ...transition.required];
      it(`allows ${from} → ${to} with the required attributes, and with all permitted ones`, () => {
        const full = maskOf(A.currentState, ...required, ...transition.optional);
        expect(subject.ask(S[from], S[to], maskOf(...required)).status).toBe(ManagementStatus.success);
        const attributesOfAll = { ...goodAttributes(full, S[to]), current_state: S[from] };
        subject.device.port.setState(1, subject.number, S[from]);
        expect(subject.host.modify(subject.number, attributesOfAll).status).toBe(ManagementStatus.success);
      });

      it(`names missing and forbidden attributes of ${from} → ${to}`, () => {
        for (const missing of transition.required)
          expect(subject.ask(S[from], S[to], maskOf(...required) & ~maskOf(missing))).toEqual({
            status: ManagementStatus.missingAttribute,
            output: BigInt(maskOf(missing)),
          });
        const known = [A.currentState, ...required, ...transition.optional];
        for (const unknown of attributes.filter((attribute) => !known.includes(attribute)))
          expect(subject.ask(S[from], S[to], maskOf(...required, unknown))).toEqual({
            status: ManagementStatus.attributeNotAllowed,
            output: BigInt(maskOf(unknown)),
          });
      });
    }
});

describe('modify_queue_pair', () => {
  it('refuses a wrong current state', () => {
    const subject = new Subject(ServiceType.unreliableDatagram);
    const answer = subject.host.modify(subject.number, {
      ...goodAttributes(maskOf(A.state, A.currentState, A.partitionKeyIndex, A.port, A.queueKey), S.init),
      current_state: S.init,
    });
    expect(answer.status).toBe(ManagementStatus.badState);
    expect(subject.state()).toBe(S.reset);
  });

  it('refers to the current state if no new one is given', () => {
    const subject = new Subject(ServiceType.unreliableDatagram);
    subject.device.port.setState(1, subject.number, S.readyToSend);
    expect(subject.host.modify(subject.number, goodAttributes(maskOf(A.queueKey), S.init)).status).toBe(
      ManagementStatus.success,
    );
    expect(subject.state()).toBe(S.readyToSend);
    expect(subject.host.query(subject.number)['queue_key']).toBe(0x1234_5678);
  });

  it.each([
    ['port', { port: 0 }],
    ['port', { port: 3 }],
    ['partition_key_index', { partition_key_index: 16 }],
    ['path_mtu', { path_mtu: 0 }],
    ['path_mtu', { path_mtu: 6 }],
    ['max_read_atomic', { max_read_atomic: 17 }],
    ['max_destination_read_atomic', { max_destination_read_atomic: 17 }],
    ['address_vector', { address_vector: encode('address_vector', { port: 3 }) }],
  ])('names the field %s whose value is out of range: %o', (name, wrong) => {
    const device = new ManagedDevice({ ports: 2 });
    const host = new ManagedFunction(device, 1);
    const number = host.createQueuePair(host.createProtectionDomain());
    const steps = [
      [S.init, maskOf(A.state, A.partitionKeyIndex, A.port, A.accessFlags)],
      [
        S.readyToReceive,
        maskOf(
          A.state,
          A.addressVector,
          A.pathMtu,
          A.destinationQueuePair,
          A.receivePsn,
          A.maxDestinationReadAtomic,
          A.minReceiverNotReadyTimer,
        ),
      ],
      [
        S.readyToSend,
        maskOf(A.state, A.timeout, A.retryCount, A.receiverNotReadyRetry, A.sendPsn, A.maxReadAtomic),
      ],
    ] as const;
    const refused = steps.map(([state, mask]) => {
      const good = goodAttributes(mask, state);
      const answer = host.modify(number, { ...good, ...wrong });
      if (answer.status !== ManagementStatus.success)
        expect(host.modify(number, good).status).toBe(ManagementStatus.success);
      return answer;
    });
    const answer = refused.find(({ status }) => status !== ManagementStatus.success);
    // The field is the one that changes if it alone is set.
    const lone = encode('queue_pair_attributes', {
      [name]: name === 'address_vector' ? new Uint8Array(48).fill(1, 0, 1) : 1,
    });
    const byte = lone.findIndex((value) => value !== 0);
    const bit = BigInt(byte * 8 + Math.log2(lone[byte]!));
    expect(answer).toMatchObject({ status: ManagementStatus.badParameter, inMailbox: 1, output: bit });
  });

  it('names a GID index beyond the table', () => {
    const device = new ManagedDevice();
    const host = new ManagedFunction(device, 1);
    const number = host.createQueuePair(host.createProtectionDomain());
    const init = maskOf(A.state, A.partitionKeyIndex, A.port, A.accessFlags);
    expect(host.modify(number, goodAttributes(init, S.init)).status).toBe(ManagementStatus.success);
    const mask = maskOf(
      A.state,
      A.addressVector,
      A.pathMtu,
      A.destinationQueuePair,
      A.receivePsn,
      A.maxDestinationReadAtomic,
      A.minReceiverNotReadyTimer,
    );
    const answer = host.modify(number, {
      ...goodAttributes(mask, S.readyToReceive),
      address_vector: encode('address_vector', { port: 1, gid_index: 16 }),
    });
    const byte = encode('queue_pair_attributes', { address_vector: new Uint8Array(48).fill(1) }).indexOf(1);
    expect(answer).toMatchObject({
      status: ManagementStatus.badParameter,
      inMailbox: 1,
      output: BigInt(byte * 8) + bitOf('address_vector', 'gid_index'),
    });
  });

  it('stores every attribute so that query_queue_pair returns it', () => {
    const subject = new Subject(ServiceType.reliableConnection);
    for (const [from, to] of [
      ['reset', 'init'],
      ['init', 'readyToReceive'],
      ['readyToReceive', 'readyToSend'],
    ] as const) {
      const mask = maskOf(
        A.state,
        ...transitions[ServiceType.reliableConnection]![`${from}>${to}`]!.required,
      );
      expect(subject.host.modify(subject.number, goodAttributes(mask, S[to])).status).toBe(0);
    }
    const { attribute_mask: _mask, queue_key: _key, ...expected } = goodAttributes(0, S.readyToSend);
    expect(subject.host.query(subject.number)).toMatchObject({ ...expected, next: 0, posted: 0xffff });
  });

  it('keeps only the creation attributes in RESET', () => {
    const subject = new Subject(ServiceType.unreliableDatagram);
    const created = subject.parts();
    const init = maskOf(A.state, A.partitionKeyIndex, A.port, A.queueKey);
    expect(subject.host.modify(subject.number, goodAttributes(init, S.init)).status).toBe(0);
    expect(
      subject.host.modify(subject.number, goodAttributes(maskOf(A.state), S.readyToReceive)).status,
    ).toBe(0);
    expect(
      subject.host.modify(subject.number, goodAttributes(maskOf(A.state, A.sendPsn), S.readyToSend)).status,
    ).toBe(0);
    subject.device.port.setRequester(
      1,
      subject.number,
      encode('queue_pair_requester', { next: 77, posted: 80, fetch_next: 78 }),
    );
    expect(subject.parts()).not.toBe(created);
    expect(subject.host.modify(subject.number, goodAttributes(maskOf(A.state), S.reset)).status).toBe(0);
    expect(subject.parts()).toBe(created);
  });
});
