import {
  ManagementOpcode,
  QualityOfServiceLevel,
  RESOURCE_ALLOCATION_REQUESTS,
  RESOURCE_ALLOCATION_REQUEST_BYTES,
  Resource,
  SHARED_BY_FUNCTIONS,
  TRANSMIT_VIRTUAL_LANES,
  decode,
  resourceNames,
} from '../spec/index.ts';
import { encodeArguments, wrongRange } from './arguments.ts';
import type { ManagementQueue } from './management_queue.ts';

/** Fields of a resource allocation request with another name in {@link ResourceRequest}. */
const argumentOf: Readonly<Record<string, string>> = {
  underlying_function: 'underlyingFunction',
  quality_of_service_level: 'level',
  transmit_virtual_lane: 'lane',
  which: 'first',
};

const pageContent = RESOURCE_ALLOCATION_REQUESTS * RESOURCE_ALLOCATION_REQUEST_BYTES;

/** Owner of resources: a function, a level of it, or a transmit virtual lane. */
export interface ResourceOwner {
  /** Underlying function. Default: the function of this context. */
  readonly underlyingFunction?: number;
  /** QoS level. Default: the function as a whole. */
  readonly level?: QualityOfServiceLevel;
  /** Transmit virtual lane; the function is then ignored. */
  readonly lane?: number;
}

/** One change to the division of resources (US8484392, resource allocation request). */
export interface ResourceRequest extends ResourceOwner {
  /** The resource to divide. */
  readonly resource: Resource;
  /** New amount. Required unless `lanes` is given. For credits of a function or level: the amount for each of its lanes. */
  readonly amount?: number;
  /** First virtual collect buffer; default: unchanged. */
  readonly first?: number;
  /** Numbers of the transmit virtual lanes. */
  readonly lanes?: readonly number[];
}

/** An owner's share of a resource. */
export interface ResourceShare extends ResourceOwner {
  /** The resource. */
  readonly resource: Resource;
  /** Name of the resource as in code: `executionCredits`. */
  readonly name: string;
  /** Amount that the owner has. */
  readonly amount: number;
  /** virtual_collect_buffers: the first one. */
  readonly first?: number;
  /** transmit_virtual_lanes: their numbers. */
  readonly lanes?: readonly number[];
}

/** Owner whose share is queried: a function, the part that all functions share, or a lane. */
export type ResourceQuery = number | 'shared' | { readonly lane: number };

/**
 * Applies changes, all or none, whatever their order. The control function may change everything; any other function divides its share
 * between its levels and lanes.
 * @throws VerbsError ENOMEM: names the resource, the amount requested and the amount available; EPERM: this function may not change it;
 * EINVAL: names the request and its field; RangeError: no change, more than 255, or an impossible lane
 */
export function allocateResources(
  management: ManagementQueue,
  underlyingFunction: number,
  requests: readonly ResourceRequest[],
): void {
  if (requests.length === 0 || requests.length > RESOURCE_ALLOCATION_REQUESTS) {
    throw wrongRange('requests.length', `1 to ${RESOURCE_ALLOCATION_REQUESTS}`, requests.length);
  }
  management.execute({
    verb: 'allocateResources',
    opcode: ManagementOpcode.allocateResources,
    inputFormat: 'resource_allocation_request[]',
    input: requests.map((request, index) => encodeRequest(request, index, underlyingFunction)),
  });
}

function encodeRequest(request: ResourceRequest, index: number, requester: number): Uint8Array {
  const path = `requests[${index}]`;
  const { underlyingFunction = requester, level, lane, lanes, first } = request;
  const which = lanes === undefined ? (first ?? 0) : maskOf(lanes, `${path}.lanes`);
  const fields = {
    resource: request.resource,
    underlying_function: lane === undefined ? underlyingFunction : 0,
    quality_of_service_level: level ?? QualityOfServiceLevel.low,
    for_level: level === undefined ? 0 : 1,
    for_lane: lane === undefined ? 0 : 1,
    by_value: lanes === undefined && first === undefined ? 0 : 1,
    transmit_virtual_lane: lane ?? 0,
    amount: request.amount ?? 0,
    which,
  };
  return encodeArguments(
    'resource_allocation_request',
    fields,
    (field) => `${path}.${argumentOf[field] ?? field}`,
  );
}

/**
 * Returns the shares of an owner. Entries of a level count the level's own part; entries of the function count everything.
 * @throws VerbsError EPERM: only the control function may query another function; EINVAL: there is no such function or lane
 */
export function queryResources(management: ManagementQueue, query: ResourceQuery): ResourceShare[] {
  const object =
    typeof query === 'number'
      ? query
      : query === 'shared'
        ? SHARED_BY_FUNCTIONS
        : SHARED_BY_FUNCTIONS + 1 + query.lane;
  const { output } = management.execute({
    verb: 'queryResources',
    opcode: ManagementOpcode.queryResources,
    object,
    outputBytes: pageContent,
  });
  const shares: ResourceShare[] = [];
  // Resource number 0 marks the unused rest of the mailbox.
  for (
    let at = 0;
    at < output.length && output[at] !== Resource.none;
    at += RESOURCE_ALLOCATION_REQUEST_BYTES
  ) {
    shares.push(shareOf(decode('resource_allocation_request', output.slice(at, at + 16))));
  }
  return shares;
}

function shareOf(fields: ReturnType<typeof decode>): ResourceShare {
  const number = (name: string): number => Number(fields[name]);
  const resource = number('resource') as Resource;
  const which = BigInt(fields['which'] as number | bigint);
  return {
    resource,
    name: resourceNames[resource] ?? `resource ${resource}`,
    ...(number('for_lane') === 1
      ? { lane: number('transmit_virtual_lane') }
      : { underlyingFunction: number('underlying_function') }),
    ...(number('for_level') === 1
      ? { level: number('quality_of_service_level') as QualityOfServiceLevel }
      : {}),
    amount: number('amount'),
    ...(resource === Resource.virtualCollectBuffers ? { first: Number(which) } : {}),
    ...(resource === Resource.transmitVirtualLanes ? { lanes: lanesOf(which) } : {}),
  };
}

/** The lanes of a mask, lowest first. */
export function lanesOf(mask: bigint): number[] {
  return Array.from({ length: TRANSMIT_VIRTUAL_LANES }, (_, lane) => lane).filter(
    (lane) => ((mask >> BigInt(lane)) & 1n) === 1n,
  );
}

function maskOf(lanes: readonly number[], path: string): bigint {
  return lanes.reduce((mask, lane, index) => {
    if (!Number.isInteger(lane) || lane < 0 || lane >= TRANSMIT_VIRTUAL_LANES) {
      throw wrongRange(`${path}[${index}]`, `0 to ${TRANSMIT_VIRTUAL_LANES - 1}`, lane);
    }
    return mask | (1n << BigInt(lane));
  }, 0n);
}
