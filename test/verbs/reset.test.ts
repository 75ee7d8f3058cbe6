import { expect, it } from 'vitest';

import { blockNamed, readNamed, registerNamed } from '../../lib/driver/named_registers.ts';
import { Opcode, openDevice, type Context } from '../../lib/index.ts';
import { makeBoard } from '../helpers/backends.ts';
import { connect, makeEnd, makePair, settle, type End } from '../helpers/connected.ts';
import { stepped, type Verbs } from '../helpers/make_verbs.ts';

function verbsOf(board: Verbs['board'], context: Context): Verbs {
  return {
    board,
    context,
    protectionDomain: context.createProtectionDomain(),
    completionQueue: context.createCompletionQueue({ entries: 64 }),
  };
}

/** Completion credits that each lane has. */
function creditsOf({ context }: Verbs): (number | undefined)[] {
  const { fields } = readNamed(
    context.driver.device.controlPage!,
    registerNamed(blockNamed('control'), 'lane_state'),
  );
  return fields.map((lane) => lane['completion_credits']);
}

/** A SEND without an acknowledgment: its peer never becomes ready to receive. */
function sendUnanswered(verbs: Verbs): End {
  const [from, to] = [makeEnd(verbs), makeEnd(verbs)];
  connect(from, to);
  from.queuePair.postSend({ opcode: Opcode.send, signaled: true });
  return from;
}

it('a function closed in the middle of its messages leaves no residue, and others keep their messages', () => {
  const board = makeBoard(stepped, {});
  const contexts = [0, 1].map((underlyingFunction) => openDevice(board.open(underlyingFunction)));
  const [control, guest] = contexts.map((context) => verbsOf(board, context)) as [Verbs, Verbs];
  const [from, to] = makePair(control);
  const free = creditsOf(control);
  for (let times = 0; times < 3; times++) sendUnanswered(guest);
  board.step(1000);
  expect(creditsOf(control)).not.toEqual(free);
  guest.context.driver.close(); // as when its process ends: no object is closed first
  expect(creditsOf(control)).toEqual(free);
  to.queuePair.postReceive({});
  from.queuePair.postSend({ opcode: Opcode.send, signaled: true });
  expect(settle(from)).toHaveLength(2);
});

it('a queue pair is destroyed, and one is reset, with messages that are never acknowledged', () => {
  const board = makeBoard(stepped, {});
  const verbs = verbsOf(board, openDevice(board.open(0)));
  const gone = sendUnanswered(verbs);
  const again = sendUnanswered(verbs);
  board.step(1000);
  gone.queuePair.close();
  again.queuePair.modify({ state: 0 });
  expect(settle(gone)).toEqual([]);
  expect(again.queuePair.query()).toMatchObject({ state: 0, inFlight: 0, next: 0 });
});
