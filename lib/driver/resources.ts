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

/** Fields of a resource allocation request that have another name in {@link ResourceRequest}. */
const argumentOf: Readonly<Record<string, string>> = {
  underlying_function: 'underlyingFunction',
  quality_of_service_level: 'level',
  transmit_virtual_lane: 'lane',
  which: 'first',
};

const pageContent = RESOURCE_ALLOCATION_REQUESTS * RESOURCE_ALLOCATION_REQUEST_BYTES;

/** Owner of resources: a function, a level of it, or a transmit virtual lane. */
export interface ResourceOwner {
  /** Default: the function that asks. */
  readonly underlyingFunction?: number;
  /** Default: the function as a whole. */
  readonly level?: QualityOfServiceLevel;
  /** Transmit virtual lane; its function is of no account then. */
  readonly lane?: number;
}

/** One change of how resources are divided (US8484392, resource allocation request). */
export interface ResourceRequest extends ResourceOwner {
  /** The resource to divide. */
  readonly resource: Resource;
  /** New amount. Needed unless `lanes` says which. Credits for a function or level: of each of its lanes. */
  readonly amount?: number;
  /** The first virtual collect buffer; default: the range begins where it did. */
  readonly first?: number;
  /** Which transmit virtual lanes. */
  readonly lanes?: readonly number[];
}

/** An owner's share of a resource. */
export interface ResourceShare extends ResourceOwner {
  /** The resource. */
  readonly resource: Resource;
  /** Of the resource, as code writes it: `executionCredits`. */
  readonly name: string;
  /** How much the owner has. */
  readonly amount: number;
  /** virtual_collect_buffers: the first one. */
  readonly first?: number;
  /** transmit_virtual_lanes: which ones. */
  readonly lanes?: readonly number[];
}

/** Owner of the resources of a query: a function's, those that all functions share, or those of a lane. */
export type ResourceQuery = number | 'shared' | { readonly lane: number };

/**
 * Carries out changes, all or none; their order does not count. The control function may change everything; another function
 * divides what it has among its levels and lanes.
 * @throws VerbsError ENOMEM: names the resource, how much was asked for, and how much there could be; EPERM: not this function's
 * to change; EINVAL: names the request and its field; RangeError: no change, more than 255, or a lane that there cannot be
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
 * The shares of an owner. A level's entries count the level's own; the function's count all.
 * @throws VerbsError EPERM: another function's, and not asked by the control function; EINVAL: there is no such function or lane
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
  // A resource of number 0 is none: the rest of the mailbox.
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
