import type { QueuePairFacts } from '../../board/index.ts';
import { QueuePairState } from '../../spec/index.ts';
import { queuePairTypes, queuePairValue } from '../../watch/queue_pair_value.ts';
import type { Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import type { Scope } from '../scope.ts';
import { observe } from './watching.ts';

/** State names, abbreviated as in the specification (InfiniBand volume 1, 10.3.1). */
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

/** Maximum of numbers in time-wait that the command lists. */
const mostWaiting = 32;

/**
 * `hca qps`: lists the queue pairs of the observed function, or of all functions through the control function, then the
 * numbers in time-wait. JSON: [{number, virtualQueuePair, underlyingFunction, type, state, peer: {queuePair, gid}, waiting, unacknowledged, hold, receives, …}].
 */
export function queuePairs(output: Output, deviceString: string, scope: Scope): void {
  const expected = '--device serve:NAME, as hca list shows it';
  const observer = observe(scope, deviceString, 'queue pairs', expected);
  const found = observer.queuePairs();
  const waiting = observer.timeWaits();
  output.value([
    ...found.map(queuePairValue),
    ...waiting.map(({ number, virtualQueuePair, underlyingFunction, timeWaitLeft }) => ({
      number,
      virtualQueuePair,
      underlyingFunction,
      state: 'timeWait',
      timeWaitLeft,
    })),
  ]);
  if (found.length === 0) output.text('There are no queue pairs.\n');
  else output.table(tableOf(found));
  if (waiting.length > 0) output.table(waitingTable(waiting));
}

function tableOf(found: readonly QueuePairFacts[]): string {
  return table(
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
        numbersText(each),
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
  );
}

/** The number in commands and completions; if peers know another number, that one follows a slash. */
function numbersText({ number, virtualQueuePair }: QueuePairFacts): string {
  return number === virtualQueuePair ? hex(number) : `${hex(number)}/${hex(virtualQueuePair)}`;
}

/** Prints the numbers in time-wait, and the time for which packets of their connections may still arrive (US7095750). */
function waitingTable(waiting: readonly QueuePairFacts[]): string {
  const shown = waiting.slice(0, mostWaiting);
  const rows = shown.map(({ number, virtualQueuePair, underlyingFunction, timeWaitLeft }) => [
    hex(virtualQueuePair),
    `${underlyingFunction}`,
    hex(number),
    `${(timeWaitLeft / 1e6).toFixed(3)} s`,
  ]);
  const rest = waiting.length - shown.length;
  return (
    table(
      [{ title: 'IN TIME-WAIT' }, { title: 'UF' }, { title: 'OF QP' }, { title: 'LEFT', align: 'right' }],
      rows,
    ) + (rest === 0 ? '' : `and ${rest} more\n`)
  );
}

const hex = (number: number): string => `0x${number.toString(16)}`;
