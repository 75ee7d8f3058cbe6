import { describe, expect, it } from 'vitest';

import { Opcode, QueuePairState, Resource, openDevice, type Context } from '../../lib/index.ts';
import { blockNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { whyStalled } from '../../lib/driver/why.ts';
import { RoomWait, SendHold } from '../../lib/spec/index.ts';
import { functionRegister, makeFunctions } from '../helpers/function_verbs.ts';
import { connect, makeEnd, makeMemory, makePair, type End } from '../helpers/connected.ts';
import type { Verbs } from '../helpers/make_verbs.ts';
import { closing } from '../helpers/backends.ts';
import { runHca } from '../helpers/run_hca.ts';

const small = 'queuePairs=64&pageTableEntries=1024&memoryKeys=256';

/** One lane, one credit of each kind. */
const scarce = {
  underlyingFunctions: 1,
  transmitVirtualLanes: 1,
  executionCreditsPerLane: 1,
  completionCreditsPerLane: 1,
  sharedExecutionCredits: 0,
  sharedCompletionCredits: 0,
};

/**
 * The reasons why the queue pair of an end waits, as the control function reads them when the board is idle.
 */
function reasonsOf(control: Verbs, { queuePair }: End): readonly string[] {
  control.board.runUntilIdle();
  return whyStalled(control.context.driver.device, queuePair.number)!.reasons;
}

/** A queue pair whose peer does not exist: nothing is ever acknowledged. */
function makeLonely(verbs: Verbs): End {
  const end = makeEnd(verbs);
  const gone = makeEnd(verbs);
  connect(end, gone, { timeout: 0 });
  gone.queuePair.close();
  return end;
}

const read = ({ verbs }: End) => {
  const memory = verbs.protectionDomain.allocate(64);
  return {
    opcode: Opcode.rdmaRead,
    gather: [memory.slice(0, 8)],
    remote: memory.remote().slice(0, 8),
    wrId: 1,
  };
};

describe('the reason why a queue pair waits', () => {
  it('reports no pending work, for any function', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from] = makePair(guest);
    expect(reasonsOf(control, from)).toEqual([
      'all posted work requests are done: the device waits for the next doorbell',
    ]);
    from.queuePair.postSend({
      opcode: Opcode.rdmaWrite,
      remote: makeMemory(from, 8).region.remote(),
      wrId: 1,
    });
    expect(reasonsOf(control, from)).toHaveLength(1);
  });

  it('reports a state in which nothing is sent', () => {
    const [control] = makeFunctions(1) as [Verbs];
    const end = makeEnd(control);
    expect(reasonsOf(control, end)[0]).toMatch(
      /it is in QueuePairState\.reset: it sends nothing before QueuePairState\.readyToSend/,
    );
    end.queuePair.modify({ state: QueuePairState.error });
    expect(reasonsOf(control, end)[0]).toMatch(/it is in QueuePairState\.error: work requests are flushed/);
  });

  it('reports a fence, and unacknowledged requests', () => {
    const [control] = makeFunctions(1) as [Verbs];
    const end = makeLonely(control);
    end.queuePair.postSend(read(end));
    end.queuePair.postSend({ opcode: Opcode.send, fence: true, wrId: 2 });
    const reasons = reasonsOf(control, end).join('\n');
    expect(reasons).toMatch(/^fence: the fenced command waits for earlier READs and atomics$/m);
    expect(reasons).toMatch(/^1 command is executed and not acknowledged by the peer; 7 retries left$/m);
  });

  it('reports a peer without receive work requests', () => {
    const [control] = makeFunctions(1) as [Verbs];
    const [from] = makePair(control);
    from.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
    control.board.step(2000);
    expect(whyStalled(control.context.driver.device, from.queuePair.number)!.reasons[0]).toBe(
      'the peer has no receive work request and asked to wait; it is asked again for ever',
    );
  });

  it('reports missing credits, and their source', () => {
    const [control] = makeFunctions(1, scarce) as [Verbs];
    const first = makeLonely(control);
    const second = makeLonely(control);
    first.queuePair.postSend(read(first));
    control.board.runUntilIdle();
    second.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
    expect(reasonsOf(control, second)).toEqual([
      '1 command of it is on transmit virtual lane 0; 1 command waits on its list, and no completion credit is free for it: give the lane more (hca resources set)',
    ]);
  });

  it('reports a partial command, and a refused one', () => {
    const [control] = makeFunctions(1) as [Verbs];
    const [from] = makePair(control);
    const { bar } = control.context.driver.device.virtualCollectBufferRegion;
    const [first, second] = control.context.driver.virtualCollectBuffers.all;
    control.board.post({ bar, offset: first!.offset + 8, data: new Uint8Array(8) });
    control.board.post({ bar, offset: second!.offset + 320, data: new Uint8Array(8) });
    expect(reasonsOf(control, from)).toEqual([
      'virtual collect buffer 1 of its function is in error (writeBeyondCommand): writes to it are dropped until it is cancelled',
      'its function has begun commands and not finished them, in virtual collect buffers 0',
    ]);
  });

  it.each([
    [
      'on the list of its lane',
      { resource: Resource.listSize, lane: 0, amount: 1 },
      /^its next command waits for room on the list of transmit virtual lane 0, where its other commands are/m,
      RoomWait.lane,
    ],
    [
      'for an entry credit of its function',
      { resource: Resource.entryCredits, underlyingFunction: 0, amount: 1 },
      /^its function lacks an entry credit: .* \(hca resources set 0\.entryCredits=…\)$/m,
      RoomWait.function,
    ],
  ])('names room that is waited for: %s', (_, request, words, kind) => {
    const [control] = makeFunctions(1, scarce) as [Verbs];
    control.context.allocateResources([request]);
    const end = makeLonely(control);
    for (const wrId of [1, 2, 3]) end.queuePair.postSend({ opcode: Opcode.send, wrId });
    const reasons = reasonsOf(control, end);
    expect(reasons.join('\n')).toMatch(words);
    expect(reasons.join('\n')).not.toMatch(/by the scheduler in its turn/);
    expect(Number(functionRegister(control, 'room_waits')[kind])).toBeGreaterThan(0);
  });

  it('reports missing room on the lists of all lanes of its level', () => {
    const [control] = makeFunctions(1, scarce) as [Verbs];
    control.context.allocateResources([{ resource: Resource.listSize, lane: 0, amount: 1 }]);
    const [first, second] = [makeLonely(control), makeLonely(control)];
    for (const wrId of [1, 2]) first.queuePair.postSend({ opcode: Opcode.send, wrId });
    control.board.runUntilIdle();
    second.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
    expect(reasonsOf(control, second)).toEqual([
      'its next command waits for room on a list of any transmit virtual lane of its level: all are full, or a fetched command waits there for a credit',
    ]);
    expect(Number(functionRegister(control, 'room_waits')[RoomWait.level])).toBe(1);
  });

  it('shows a function only its own queue pairs', () => {
    const [control, guest] = makeFunctions(2) as [Verbs, Verbs];
    const [from] = makePair(guest);
    const [other] = makePair(control);
    const { device } = guest.context.driver;
    const { bar } = device.virtualCollectBufferRegion;
    const why = (number: number) => {
      control.board.runUntilIdle();
      return whyStalled(device, number)?.reasons;
    };
    expect(why(other.queuePair.number)).toBeUndefined();
    expect(why(from.queuePair.number)).toEqual([
      'all posted work requests are done: the device waits for the next doorbell',
    ]);
    const [buffer] = guest.context.driver.virtualCollectBuffers.all;
    control.board.post({ underlyingFunction: 1, bar, offset: buffer!.offset + 8, data: new Uint8Array(8) });
    expect(why(from.queuePair.number)).toEqual([
      `commands are begun and not finished, or refused, in virtual collect buffers ${buffer!.number} of its function`,
    ]);
    const end = makeLonely(guest);
    end.queuePair.postSend(read(end));
    end.queuePair.postSend({ opcode: Opcode.send, fence: true, wrId: 2 });
    expect(why(end.queuePair.number)!.join('\n')).toMatch(
      /^fence: .*\n1 command of it is on transmit virtual lane 4$/m,
    );
  });
});

describe('counters', () => {
  it('count commands that found no credit', () => {
    const [control] = makeFunctions(1, scarce) as [Verbs];
    const ends = [0, 1].map(() => makeLonely(control));
    for (const end of ends) {
      end.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
      control.board.runUntilIdle();
    }
    expect(functionRegister(control, 'credit_waits')).toEqual([0n, 1n]);
  });

  it('count turns without a dedicated physical collect buffer, and closed buffers', () => {
    const [control] = makeFunctions(2, {
      underlyingFunctions: 2,
      dedicatedPhysicalCollectBuffers: 2,
      managementPhysicalCollectBuffers: 1,
    }) as [Verbs];
    const [from, to] = makePair(control);
    for (let wrId = 0; wrId < 8; wrId++) to.queuePair.postReceive({ wrId, scatter: [] });
    from.queuePair.postSend(Array.from({ length: 8 }, (_, wrId) => ({ opcode: Opcode.send, wrId })));
    // block by block, because otherwise a command passes through an idle board in one step
    control.board.step(100_000);
    expect(functionRegister(control, 'dedicated_waits')).toEqual([2n]);
    const close = registerNamed(blockNamed('control'), 'close_virtual_collect_buffer').offset;
    for (const buffer of [3, 4, 4]) control.context.driver.device.controlPage!.write32(close, buffer);
    expect(functionRegister(control, 'virtual_collect_buffers_closed')).toEqual([2n]);
  });

  it('count held commands, by reason', () => {
    const [control] = makeFunctions(1) as [Verbs];
    const end = makeLonely(control);
    end.queuePair.postSend(read(end));
    end.queuePair.postSend({ opcode: Opcode.send, fence: true, wrId: 2 });
    control.board.runUntilIdle();
    const holds = functionRegister(control, 'send_holds').map(Number);
    expect(holds[SendHold.fence]).toBeGreaterThan(0);
    expect(holds.reduce((sum, count) => sum + count, 0)).toBe(holds[SendHold.fence]);
  });

  it('count lists without room, and commands that found no physical collect buffer', () => {
    const [control] = makeFunctions(1, scarce) as [Verbs];
    const ends = [0, 1, 2].map(() => makeLonely(control));
    control.context.allocateResources([{ resource: Resource.entryCredits, amount: 1 }]);
    ends[0]!.queuePair.postSend(read(ends[0]!));
    control.board.runUntilIdle();
    ends[1]!.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
    control.board.runUntilIdle();
    ends[2]!.queuePair.postSend({ opcode: Opcode.send, wrId: 1 });
    control.board.step(500);
    expect(Number(functionRegister(control, 'list_refusals')[0])).toBeGreaterThan(0);
    const { all } = control.context.driver.virtualCollectBuffers;
    const { bar } = control.context.driver.device.virtualCollectBufferRegion;
    for (const { offset } of all.slice(0, 70)) {
      control.board.post({ bar, offset: offset + 8, data: new Uint8Array(8) });
    }
    control.board.step(500);
    expect(Number(functionRegister(control, 'send_queue_mode_entered')[0])).toBeGreaterThanOrEqual(6);
  });
});

/** A board of this process that `hca` finds by its name. */
function openNamed(name: string): { context: Context; device: string[] } {
  const device = `emu:0?name=${name}&${small}`;
  const context = openDevice(device);
  closing({ close: () => context[Symbol.dispose]() });
  return { context, device: ['--device', device] };
}

describe('hca why', () => {
  it('observes a running application without disturbing it', async () => {
    const { context, device } = openNamed('why');
    const completionQueue = context.createCompletionQueue();
    const queuePair = context.createProtectionDomain().createQueuePair({
      type: 'RC',
      sendCompletionQueue: completionQueue,
      receiveCompletionQueue: completionQueue,
    });
    const text = await runHca(['why', `0x${queuePair.number.toString(16)}`, ...device]);
    expect([text.exitCode, text.error]).toEqual([0, '']);
    expect(text.out).toMatch(
      /^queue pair 0x\w+ of function 0: reset, level low; next 0, posted \d+, acknowledged 0\n- it is in QueuePairState\.reset/,
    );
    const { json } = await runHca(['why', `${queuePair.number}`, ...device, '--json']);
    expect(json()).toMatchObject([{ queuePair: { state: 'reset', hold: 'none', underlyingFunction: 0 } }]);
    queuePair.modify({ state: QueuePairState.error });
    const none = await runHca(['why', '0x999', ...device]);
    expect([none.exitCode, none.error]).toEqual([
      1,
      expect.stringMatching(/has no queue pair 0x999; expected: the number/),
    ]);
  });

  it.each([
    [['why'], 2, /missing required argument 'qpn'/],
    [['why', 'seven'], 2, /It must be a 24-bit number, such as 0x12 or 18/],
    [['top', '--interval', '1'], 2, /It must be a whole number from 10/],
  ])('%j fails in one line', async (words, exitCode, error) => {
    const run = await runHca(words);
    expect([run.exitCode, run.out]).toEqual([exitCode, '']);
    expect(run.error).toMatch(error);
    expect(run.error.trim().split('\n')).toHaveLength(1);
  });
});

describe('hca top', () => {
  it('shows the resources that each function uses', async () => {
    const { context, device } = openNamed('top');
    const { virtualCollectBuffers, device: open } = context.driver;
    const { bar } = open.virtualCollectBufferRegion;
    open.board.write64(bar, virtualCollectBuffers.all[3]!.offset + 8, 0, 0);
    open.board.fence();
    const { exitCode, json } = await runHca(['top', '--count', '2', '--interval', '10', '--json', ...device]);
    expect(exitCode).toBe(0);
    const looks = json().map((look) => (look as { functions: Record<string, unknown>[] }).functions);
    expect(looks).toHaveLength(2);
    expect(looks[1]![0]).toMatchObject({
      underlyingFunction: 0,
      virtualCollectBuffers: 32,
      collecting: 1,
      sendQueueMode: 0,
      error: 0,
      physicalCollectBuffers: 1,
      ownPhysicalCollectBuffers: 4,
      lanes: 4,
      lanesWaiting: 0,
      commandsListed: 0,
      executionCredits: 8,
      sharedExecutionCredits: 0,
    });
    expect(looks[1]!.at(-1)).toMatchObject({ lanes: 32, completionCredits: 128 });
    const { out } = await runHca(['top', '--count', '1', ...device]);
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(11);
    expect(lines[1]!.split(/\s+/)).toEqual(['0', '-', '-', '1/32', '0', '0', '1/4', '0', '8+0', '16+0', '-']);
    virtualCollectBuffers.all[3]!.cancel();
  });
});
