import {
  QualityOfServiceLevel,
  Resource,
  openDevice,
  type Context,
  type LevelCredits,
  type ResourceQuery,
  type ResourceShare,
} from '../index.ts';
import { qualityOfServiceLevelNames } from '../spec/index.ts';
import type { Output } from './output/output.ts';
import { table, type Column } from './output/table.ts';
import { formatLanes, parseResourceChange } from './resource_changes.ts';

const { low, high } = QualityOfServiceLevel;

const functionColumns: readonly Column[] = [
  { title: 'UF' },
  { title: 'VCBS' },
  { title: 'LOW', align: 'right' },
  { title: 'HIGH', align: 'right' },
  { title: 'PCBS', align: 'right' },
  { title: 'LOW', align: 'right' },
  { title: 'HIGH', align: 'right' },
  { title: 'ENTRIES', align: 'right' },
  { title: 'TVLS' },
  { title: 'LOW' },
  { title: 'HIGH' },
];

const creditColumns: readonly Column[] = [
  { title: 'LEVEL' },
  ...['EXECUTION', 'FREE', 'SHARED', 'COMPLETION', 'FREE', 'SHARED'].map((title): Column => ({
    title,
    align: 'right',
  })),
];

const laneColumns: readonly Column[] = [
  { title: 'TVLS' },
  { title: 'EXECUTION', align: 'right' },
  { title: 'CAP', align: 'right' },
  { title: 'COMPLETION', align: 'right' },
  { title: 'CAP', align: 'right' },
  { title: 'LIST', align: 'right' },
];

/** `hca resources show`: shows the division of resources. JSON: {functions, shared, lanes, credits}: shares as {@link ResourceShare}, {@link LevelCredits}. */
export function showResources(output: Output, deviceString: string): void {
  withDevice(deviceString, (device) => show(output, device));
}

/** `hca resources set CHANGE…`: applies all changes or none, then prints as `hca resources show`. */
export function setResources(output: Output, deviceString: string, changes: readonly string[]): void {
  const requests = changes.map(parseResourceChange);
  withDevice(deviceString, (device) => {
    device.allocateResources(requests);
    show(output, device);
  });
}

function withDevice(deviceString: string, use: (device: Context) => void): void {
  const device = openDevice(deviceString);
  try {
    use(device);
  } finally {
    device.close();
  }
}

/** The control function reads all resources; another function reads its own, the shared ones, and its lanes. */
function show(output: Output, device: Context): void {
  const { identity, underlyingFunction } = device.queryDevice();
  const numbers =
    underlyingFunction === 0
      ? Array.from({ length: identity.underlyingFunctions }, (_, number) => number)
      : [underlyingFunction];
  const functions = numbers.map((number) => device.queryResources(number));
  const shared = device.queryResources('shared');
  const reached =
    underlyingFunction === 0
      ? Array.from({ length: identity.transmitVirtualLanes }, (_, lane) => lane)
      : functions.flatMap((shares) => lanesIn(shares));
  const lanes = reached.map((lane) => device.queryResources({ lane } satisfies ResourceQuery));
  const credits = device.queryCredits();
  output.value({ functions, shared, lanes, credits });
  output.text(table(functionColumns, [...functions.map(functionRow), sharedRow(shared)]));
  output.text(`\n${table(laneColumns, laneRows(reached, lanes))}`);
  output.text(`\ncredits of function ${underlyingFunction}\n${table(creditColumns, credits.map(creditRow))}`);
  output.text(
    `shared credits: ${amountIn(shared, Resource.executionCredits)} execution, ${amountIn(shared, Resource.completionCredits)} completion\n`,
  );
}

function creditRow({ level, execution, completion }: LevelCredits): string[] {
  const amounts = [execution, completion].flatMap(({ own, ownFree, sharedHeld }) => [
    own,
    ownFree,
    sharedHeld,
  ]);
  return [qualityOfServiceLevelNames[level]!, ...amounts.map(String)];
}

const shareIn = (shares: readonly ResourceShare[], resource: Resource, level?: number) =>
  shares.find((share) => share.resource === resource && share.level === level);

const amountIn = (shares: readonly ResourceShare[], resource: Resource, level?: number): string =>
  `${shareIn(shares, resource, level)?.amount ?? ''}`;

const lanesIn = (shares: readonly ResourceShare[], level?: number): readonly number[] =>
  shareIn(shares, Resource.transmitVirtualLanes, level)?.lanes ?? [];

function functionRow(shares: readonly ResourceShare[]): string[] {
  const { amount, first = 0, underlyingFunction } = shareIn(shares, Resource.virtualCollectBuffers)!;
  const amounts = (resource: Resource): string[] =>
    [low, high].map((level) => amountIn(shares, resource, level));
  return [
    `${underlyingFunction}`,
    amount === 0 ? 'none' : `${first}-${first + amount - 1}`,
    ...amounts(Resource.virtualCollectBuffers),
    amountIn(shares, Resource.physicalCollectBuffers),
    ...amounts(Resource.physicalCollectBuffers),
    amountIn(shares, Resource.entryCredits),
    ...[undefined, low, high].map((level) => formatLanes(lanesIn(shares, level))),
  ];
}

function sharedRow(shares: readonly ResourceShare[]): string[] {
  const free = Number(amountIn(shares, Resource.virtualCollectBuffers));
  const buffers = amountIn(shares, Resource.physicalCollectBuffers);
  return [
    'shared',
    free === 0 ? '' : `${free} free`,
    '',
    '',
    buffers,
    '',
    '',
    '',
    formatLanes(lanesIn(shares)),
  ];
}

/** One row for consecutive lanes with equal values. */
function laneRows(lanes: readonly number[], shares: readonly (readonly ResourceShare[])[]): string[][] {
  const alike = new Map<string, number[]>();
  lanes.forEach((lane, index) => {
    const values = shares[index]!.map(({ amount }) => amount).join();
    alike.set(values, [...(alike.get(values) ?? []), lane]);
  });
  return [...alike].map(([values, numbers]) => [formatLanes(numbers), ...values.split(',')]);
}
