import { describe, expect, it } from 'vitest';

import { Access, PathMtu, QueuePairState, queuePairStateNames } from '../../lib/index.ts';
import type { QueuePair, QueuePairAttributes, QueuePairType } from '../../lib/index.ts';
import { describeOnBackends } from '../helpers/backends.ts';
import { makeQueuePair, makeVerbs } from '../helpers/make_verbs.ts';

const { reset, init, readyToReceive, readyToSend, sendQueueDrained, error } = QueuePairState;

/** A value that is allowed for each attribute. */
const values = {
  drainedEvent: true,
  accessFlags: Access.remoteRead,
  partitionKeyIndex: 0,
  port: 1,
  queueKey: 0x1111_1111,
  addressVector: { port: 1 },
  pathMtu: PathMtu.mtu1024,
  timeout: 14,
  retryCount: 7,
  receiverNotReadyRetry: 7,
  receivePsn: 1,
  sendPsn: 2,
  maxReadAtomic: 4,
  maxDestinationReadAtomic: 4,
  minReceiverNotReadyTimer: 12,
  destinationQueuePair: 3,
  endToEndCredits: true,
} as const;
type Name = keyof typeof values;
const names = Object.keys(values) as Name[];

function pick(...chosen: readonly Name[]): QueuePairAttributes {
  return Object.fromEntries(chosen.map((name) => [name, values[name]]));
}

type Row = readonly [QueuePairState, QueuePairState, readonly Name[], readonly Name[]];

const reliableConnection: readonly Row[] = [
  [reset, init, ['partitionKeyIndex', 'port', 'accessFlags'], []],
  [init, init, [], ['partitionKeyIndex', 'port', 'accessFlags']],
  [
    init,
    readyToReceive,
    [
      'addressVector',
      'pathMtu',
      'destinationQueuePair',
      'receivePsn',
      'maxDestinationReadAtomic',
      'minReceiverNotReadyTimer',
    ],
    ['partitionKeyIndex', 'accessFlags', 'endToEndCredits'],
  ],
  [
    readyToReceive,
    readyToSend,
    ['sendPsn', 'timeout', 'retryCount', 'receiverNotReadyRetry', 'maxReadAtomic'],
    ['accessFlags', 'minReceiverNotReadyTimer'],
  ],
  [readyToSend, readyToSend, [], ['accessFlags', 'minReceiverNotReadyTimer']],
  [readyToSend, sendQueueDrained, [], ['drainedEvent']],
  [
    sendQueueDrained,
    sendQueueDrained,
    [],
    [
      'addressVector',
      'partitionKeyIndex',
      'port',
      'timeout',
      'retryCount',
      'receiverNotReadyRetry',
      'maxReadAtomic',
      'maxDestinationReadAtomic',
      'accessFlags',
      'minReceiverNotReadyTimer',
    ],
  ],
  [sendQueueDrained, readyToSend, [], ['accessFlags', 'minReceiverNotReadyTimer']],
];

const unreliableConnection: readonly Row[] = [
  [reset, init, ['partitionKeyIndex', 'port', 'accessFlags'], []],
  [init, init, [], ['partitionKeyIndex', 'port', 'accessFlags']],
  [
    init,
    readyToReceive,
    ['addressVector', 'pathMtu', 'destinationQueuePair', 'receivePsn'],
    ['partitionKeyIndex', 'accessFlags'],
  ],
  [readyToReceive, readyToSend, ['sendPsn'], ['accessFlags']],
  [readyToSend, readyToSend, [], ['accessFlags']],
  [readyToSend, sendQueueDrained, [], ['drainedEvent']],
  [sendQueueDrained, sendQueueDrained, [], ['addressVector', 'partitionKeyIndex', 'accessFlags']],
  [sendQueueDrained, readyToSend, [], ['accessFlags']],
];

const unreliableDatagram: readonly Row[] = [
  [reset, init, ['partitionKeyIndex', 'port', 'queueKey'], []],
  [init, init, [], ['partitionKeyIndex', 'port', 'queueKey']],
  [init, readyToReceive, [], ['partitionKeyIndex', 'queueKey']],
  [readyToReceive, readyToSend, ['sendPsn'], ['queueKey']],
  [readyToSend, readyToSend, [], ['queueKey']],
  [readyToSend, sendQueueDrained, [], ['drainedEvent']],
  [sendQueueDrained, sendQueueDrained, [], ['partitionKeyIndex', 'queueKey']],
  [sendQueueDrained, readyToSend, [], ['queueKey']],
];

/** Attributes that the transitions of each service require, and allow besides (InfiniBand volume 1, 11.2.5.2). */
const rows = { RC: reliableConnection, UC: unreliableConnection, UD: unreliableDatagram } as const;
const types = Object.keys(rows) as (keyof typeof rows)[];

/** Takes a queue pair from RESET to a state. */
function bring(queuePair: QueuePair, type: QueuePairType, state: QueuePairState): void {
  if (state === reset) return;
  if (state === error) return queuePair.modify({ state });
  for (const [from, to, required] of rows[type]) {
    if (to <= from) continue;
    queuePair.modify({ state: to, ...pick(...required) });
    if (to === state) return;
  }
}

const states = [reset, init, readyToReceive, readyToSend, sendQueueDrained, error];

describeOnBackends('a queue pair', (backend) => {
  it.each(types)('goes through all its states, as the device does: %s', (type) => {
    const queuePair = makeQueuePair(makeVerbs(backend), {}, type);
    expect(queuePair.query().state).toBe(reset);
    for (const state of states) {
      bring(queuePair, type, state);
      if (state !== reset) expect(queuePair.query().state).toBe(state);
      queuePair.modify({ state: reset });
    }
    expect(queuePair.query().state).toBe(reset);
  });
});

const transitions = types.flatMap((type) =>
  rows[type].map((row) => [type, queuePairStateNames[row[0]], queuePairStateNames[row[1]], row] as const),
);

describe.each(transitions)('%s: %s to %s', (type, _from, _to, [from, to, required, optional]) => {
  it('takes what it requires, and all that it allows', () => {
    const verbs = makeVerbs();
    for (const extra of [[], optional]) {
      const queuePair = makeQueuePair(verbs, {}, type);
      bring(queuePair, type, from);
      queuePair.modify({ state: to, ...pick(...required, ...extra) });
      expect(queuePair.query().state).toBe(to);
    }
  });

  it('names missing attributes, which the device refuses too', () => {
    const queuePair = makeQueuePair(makeVerbs(), {}, type);
    bring(queuePair, type, from);
    for (const missing of required) {
      const given = required.filter((name) => name !== missing);
      const attributes = { state: to, ...pick(...given) };
      expect(() => queuePair.driver.modify(attributes)).toThrow(/ManagementStatus\.missingAttribute/);
      expect(() => queuePair.modify(attributes)).toThrow(
        expect.objectContaining({
          code: 'EINVAL',
          attribute: missing,
          expected: expect.stringContaining(`required: ${required.join(', ')}`) as string,
        }),
      );
    }
    expect(queuePair.query().state).toBe(from);
  });

  it('names disallowed and allowed attributes; the device refuses the former too', () => {
    const queuePair = makeQueuePair(makeVerbs(), {}, type);
    bring(queuePair, type, from);
    for (const wrong of names.filter((name) => !required.includes(name) && !optional.includes(name))) {
      const attributes = { state: to, ...pick(...required, wrong) };
      expect(() => queuePair.driver.modify(attributes)).toThrow(/ManagementStatus\.attributeNotAllowed/);
      expect(() => queuePair.modify(attributes)).toThrow(
        expect.objectContaining({
          code: 'EINVAL',
          attribute: wrong,
          expected: expect.stringContaining('optional: ') as string,
        }),
      );
    }
    expect(queuePair.query().state).toBe(from);
  });
});

const none = types.flatMap((type) =>
  states.flatMap((from) =>
    [init, readyToReceive, readyToSend, sendQueueDrained]
      .filter((to) => !rows[type].some((row) => row[0] === from && row[1] === to))
      .map((to) => [type, queuePairStateNames[from]!, queuePairStateNames[to]!, from, to] as const),
  ),
);

describe('other transitions', () => {
  it.each(none)(
    '%s: %s to %s is none, which is said with those that there are',
    (type, fromName, toName, from, to) => {
      const queuePair = makeQueuePair(makeVerbs(), {}, type);
      bring(queuePair, type, from);
      expect(() => queuePair.modify({ state: to })).toThrow(
        expect.objectContaining({
          code: 'EINVAL',
          attribute: 'state',
          message: expect.stringContaining(
            `in QueuePairState.${fromName} cannot go to QueuePairState.${toName}`,
          ) as string,
          expected: expect.stringMatching(/QueuePairState\.reset, QueuePairState\.error$/) as string,
        }),
      );
      expect(() => queuePair.driver.modify({ state: to })).toThrow(
        expect.objectContaining({ code: 'EINVAL' }),
      );
      expect(queuePair.query().state).toBe(from);
    },
  );

  it('that the device refuses change nothing', () => {
    const queuePair = makeQueuePair(makeVerbs());
    expect(() =>
      queuePair.modify({ state: init, ...pick('partitionKeyIndex', 'accessFlags'), port: 9 }),
    ).toThrow(expect.objectContaining({ attribute: 'port' }));
    bring(queuePair, 'RC', init);
    expect(() => queuePair.modify({ currentState: reset, accessFlags: 0 })).toThrow(
      expect.objectContaining({ code: 'EINVAL' }),
    );
  });
});
