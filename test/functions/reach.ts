import { expect } from 'vitest';

import { VerbsError } from '../../lib/driver/errors.ts';
import type { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { CompletionStatus, Opcode, QueuePairState } from '../../lib/index.ts';
import type { ManagementOpcode } from '../../lib/spec/index.ts';
import { makeMemory, makePair, settle, type End } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { controlRegister, eventsOf, functionRegister, makeFunctions } from '../helpers/function_verbs.ts';

/** Functions 0, 1 and 2 of a board, all active. Function 1, the intruder, tries to reach objects of function 2, the owner. */
export interface Scene {
  readonly control: Verbs;
  readonly intruder: Verbs;
  readonly own: readonly [End, End];
  readonly owner: Verbs;
  readonly ends: readonly [End, End];
}

/** The counters of refused accesses. */
const counters = {
  /** Writes to a VCB of another function. */
  unclaimed: ({ control }: Scene) => Number(controlRegister(control, 'writes_unclaimed')[0]),
  /** Accesses outside the function's regions. */
  unsupported: ({ control }: Scene) => {
    const { writesUnsupported, readsUnsupported } = control.board.counters();
    return writesUnsupported + readsUnsupported;
  },
  /** DMAs of the device that the IOMMU refused. */
  faults: ({ control }: Scene) => control.board.counters().dmaFaults,
  /** Commands of the intruder. */
  commands: ({ intruder }: Scene) => Number(functionRegister(intruder, 'commands_refused')[0]),
  /** Values that the intruder wrote to its registers. */
  values: ({ intruder }: Scene) => Number(functionRegister(intruder, 'reads_refused')[0]),
  /** Work requests of the intruder that failed. */
  failures: ({ intruder }: Scene) => Number(functionRegister(intruder, 'commands_failed')[0]),
  /** Requests that the intruder's own queue pair answered with a NAK. */
  answers: ({ intruder }: Scene) => Number(functionRegister(intruder, 'negative_acknowledges')[0]),
} as const;

export type Counter = keyof typeof counters;

/** Registers of the owner's page, except the counters of its own work. */
const shown = [
  'status',
  'virtual_collect_buffer_bar',
  'virtual_collect_buffer_sub_bar',
  'management_queue_size',
  'management_send_queue_address',
  'management_completion_queue_address',
  'virtual_collect_buffer_in_use',
  'physical_collect_buffers_total',
  'physical_collect_buffers_in_use',
  'kick_record_control',
  'kick_record_address',
  'queuing_structure_address',
  'queuing_structure_size',
  'transmit_virtual_lanes',
  'commands_refused',
  'writes_dropped',
  'commands_stale',
  'commands_failed',
  'checksum_mismatches',
  'events_dropped',
  'dma_faults',
  'reads_refused',
  'completions_dropped',
  'requests_duplicate',
];

const showOf = ({ owner }: Scene): Record<string, readonly bigint[]> =>
  Object.fromEntries(shown.map((name) => [name, functionRegister(owner, name)]));

/** Checks that a SEND and a WRITE of a connection arrive intact. */
function expectToWork([from, to]: readonly [End, End], seed: number): void {
  const source = makeMemory(from, 3000, seed);
  const [sent, written] = [makeMemory(to, 3000, 50), makeMemory(to, 3000, 51)];
  const gather = [source.region.slice()];
  to.queuePair.postReceive({ wrId: 1, scatter: [sent.region.slice()] });
  from.queuePair.postSend([
    { opcode: Opcode.rdmaWrite, gather, remote: written.region.remote(), wrId: 2 },
    { opcode: Opcode.send, gather, wrId: 3, signaled: true },
  ]);
  const statuses = settle(from).map(({ status }) => status);
  expect(statuses).toEqual([CompletionStatus.success, CompletionStatus.success]);
  expect([sent.data, written.data]).toEqual([source.data, source.data]);
}

/**
 * Lets the intruder attempt an access, and checks that it was counted and that the owner continues
 * undisturbed.
 * @param counted the counter that must change; undefined: the intruder gets an answer, which `reach` checks
 */
export function expectOutOfReach(reach: (scene: Scene) => void, counted?: Counter): void {
  const [control, intruder, owner] = makeFunctions(3) as [Verbs, Verbs, Verbs];
  const scene: Scene = { control, intruder, own: makePair(intruder), owner, ends: makePair(owner) };
  expectToWork(scene.ends, 1);
  const before = showOf(scene);
  const count = counted === undefined ? 0 : counters[counted](scene);
  reach(scene);
  control.board.runUntilIdle();
  if (counted !== undefined) expect(counters[counted](scene)).toBeGreaterThan(count);
  expect(showOf(scene)).toEqual(before);
  expect([eventsOf(owner), eventsOf(control)]).toEqual([[], []]);
  for (const { queuePair } of scene.ends) expect(queuePair.query().state).toBe(QueuePairState.readyToSend);
  expectToWork(scene.ends, 2);
}

/** The driver of a function. */
export const driverOf = ({ context }: Verbs): HcaDriver => context.driver;

/** The error of a call that the device must refuse. */
export function refusalOf(call: () => unknown): VerbsError {
  try {
    call();
  } catch (error) {
    if (error instanceof VerbsError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

/** Expects the device to answer a management command on an object of another function with "no such object". */
export function expectNoSuchObject(
  verbs: Verbs,
  opcode: ManagementOpcode,
  object: number,
  input?: Uint8Array,
): void {
  const { management } = driverOf(verbs);
  const parts = input === undefined ? [] : [input];
  const error = refusalOf(() => management.execute({ verb: 'reach', opcode, object, input: parts }));
  expect([error.code, error.message]).toEqual([
    'EINVAL',
    expect.stringContaining('ManagementStatus.badObject'),
  ]);
}
