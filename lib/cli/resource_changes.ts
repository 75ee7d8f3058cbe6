import {
  QualityOfServiceLevel,
  Resource,
  VerbsError,
  resourceNames,
  type ResourceOwner,
  type ResourceRequest,
} from '../index.ts';

/** Resources that can be divided. */
const divided: readonly Resource[] = [
  Resource.virtualCollectBuffers,
  Resource.physicalCollectBuffers,
  Resource.transmitVirtualLanes,
  Resource.executionCredits,
  Resource.completionCredits,
  Resource.executionCreditsCap,
  Resource.completionCreditsCap,
  Resource.listSize,
  Resource.entryCredits,
];

/** Short names, in addition to those of {@link Resource}. */
const shortNames: Readonly<Record<string, Resource>> = {
  vcbs: Resource.virtualCollectBuffers,
  pcbs: Resource.physicalCollectBuffers,
  tvls: Resource.transmitVirtualLanes,
};

/** The names of {@link Resource}. */
const named: Readonly<Record<string, Resource>> = Object.fromEntries(
  divided.map((resource) => [resourceNames[resource]!, resource]),
);

const levels = { low: QualityOfServiceLevel.low, high: QualityOfServiceLevel.high } as const;

/**
 * A change as `hca resources set` accepts it: OWNER.RESOURCE=AMOUNT. The owner is a function (`1`), a level of it (`1.high`) or a lane
 * (`lane5`); by default the requesting function. An amount of virtual collect buffers may include the first one (`30@64`), an amount
 * of lanes their numbers (`lanes:4-9,12`).
 * @throws VerbsError EINVAL; the message names the wrong part and correct values
 */
export function parseResourceChange(text: string): ResourceRequest {
  const equals = text.indexOf('=');
  if (equals < 0) throw wrong(text, 'no amount', 'OWNER.RESOURCE=AMOUNT, such as 1.high.pcbs=8');
  const words = text.slice(0, equals).split('.');
  const resource = resourceOf(text, words.pop()!);
  return { ...ownerOf(text, words), resource, ...amountOf(text, resource, text.slice(equals + 1)) };
}

function resourceOf(text: string, name: string): Resource {
  const resource = shortNames[name] ?? named[name];
  if (resource !== undefined) return resource;
  const names = [...Object.keys(shortNames), ...Object.keys(named)];
  throw wrong(text, `no resource "${name}"`, `one of ${names.join(', ')}`);
}

function ownerOf(text: string, words: readonly string[]): ResourceOwner {
  if (words.length === 0) return {};
  const [owner = '', level, ...rest] = words;
  const lane = /^lane(\d{1,2})$/.exec(owner);
  if (lane !== null && level === undefined) return { lane: Number(lane[1]) };
  if (owner in levels && level === undefined) return { level: levels[owner as keyof typeof levels] };
  if (!/^\d{1,2}$/.test(owner) || rest.length > 0 || (level !== undefined && !(level in levels))) {
    throw wrong(
      text,
      `owner "${words.join('.')}"`,
      'a function (1), a level (1.low, 1.high) or a lane (lane5)',
    );
  }
  return {
    underlyingFunction: Number(owner),
    ...(level === undefined ? {} : { level: levels[level as keyof typeof levels] }),
  };
}

function amountOf(text: string, resource: Resource, value: string): Omit<ResourceRequest, 'resource'> {
  const [, amount, first] = /^(\d{1,9})(?:@(\d{1,9}))?$/.exec(value) ?? [];
  if (amount !== undefined && first === undefined) return { amount: Number(amount) };
  if (amount !== undefined && resource === Resource.virtualCollectBuffers) {
    return { amount: Number(amount), first: Number(first) };
  }
  if (resource === Resource.transmitVirtualLanes && value.startsWith('lanes:')) {
    return { lanes: lanesOf(text, value.slice('lanes:'.length)) };
  }
  const more =
    resource === Resource.virtualCollectBuffers
      ? ', or AMOUNT@FIRST'
      : resource === Resource.transmitVirtualLanes
        ? ', or lanes:4-9,12'
        : '';
  throw wrong(text, `amount "${value}"`, `a whole number${more}`);
}

function lanesOf(text: string, list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [, from, to = from] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(part) ?? [];
    const [begin, end] = [Number(from), Number(to)];
    if (from === undefined || end < begin)
      throw wrong(text, `lanes "${part}"`, 'lanes and ranges, such as 4-9,12');
    return Array.from({ length: end - begin + 1 }, (_, index) => begin + index);
  });
}

/** Lanes as {@link parseResourceChange} takes them: runs joined by a dash. */
export function formatLanes(lanes: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const lane of lanes) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === lane - 1) last[1] = lane;
    else runs.push([lane, lane]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

function wrong(text: string, part: string, expected: string): VerbsError {
  return new VerbsError(`change "${text}": ${part}`, {
    code: 'EINVAL',
    verb: 'allocateResources',
    attribute: text,
    expected,
  });
}
