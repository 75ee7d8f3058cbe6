import { QueuePairState } from '../../spec/index.ts';
import { queuePairTypes, queuePairValue } from '../../watch/queue_pair_value.ts';
import type { Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import type { Scope } from '../scope.ts';
import { observe } from './watching.ts';

/** As the specification abbreviates them (InfiniBand volume 1, 10.3.1). */
const abbreviations = 'RESET INIT RTR RTS SQD SQE ERR'.split(' ');
const states: Readonly<Record<number, string>> = Object.fromEntries(
  [
    QueuePairState.reset,
    QueuePairState.init,
    QueuePairState.readyToReceive,
    QueuePairState.readyToSend,
    QueuePairState.sendQueueDrained,
    QueuePairState.sendQueueError,
    QueuePairState.error,
  ].map((state, index) => [state, abbreviations[index]!]),
);

/**
 * `hca qps`: the queue pairs of the function that is observed, of all where that is the control function. JSON: [{number, underlyingFunction,
 * type, state, peer: {queuePair, gid}, waiting, unacknowledged, hold, receives, …}].
 */
export function queuePairs(output: Output, deviceString: string, scope: Scope): void {
  const expected = '--device serve:NAME, as hca list shows it';
  const found = observe(scope, deviceString, 'queue pairs', expected).queuePairs();
  output.value(found.map(queuePairValue));
  if (found.length === 0) {
    output.text('There are no queue pairs.\n');
    return;
  }
  output.table(
    table(
      [
        { title: 'QP' },
        { title: 'UF' },
        { title: 'TYPE' },
        { title: 'STATE' },
        { title: 'WAITING', align: 'right' },
        { title: 'UNACKED', align: 'right' },
        { title: 'RECEIVES', align: 'right' },
        { title: 'HOLD' },
        { title: 'PEER' },
      ],
      found.map((each) => {
        const { waiting, unacknowledged, receives, hold, peer } = queuePairValue(each);
        return [
          hex(each.number),
          `${each.underlyingFunction}`,
          queuePairTypes[each.serviceType] ?? `${each.serviceType}`,
          states[each.state] ?? `${each.state}`,
          `${waiting}`,
          `${unacknowledged}`,
          receives === undefined ? 'shared' : `${receives}`,
          hold === undefined || hold === 'none' ? '-' : hold,
          peer === undefined ? '-' : `${hex(peer.queuePair)} ${peer.address}`,
        ];
      }),
    ),
  );
}

const hex = (number: number): string => `0x${number.toString(16)}`;
