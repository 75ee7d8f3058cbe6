import { expect, it } from 'vitest';

import type { HcaDriver } from '../../lib/driver/hca_driver.ts';
import { EventType, Opcode, eventTypeNames } from '../../lib/spec/index.ts';
import { makePair } from '../helpers/connected.ts';
import { makeVerbs } from '../helpers/make_verbs.ts';

it('the driver rings no doorbell for a destroyed queue pair when a port comes up', () => {
  const verbs = makeVerbs();
  const [{ queuePair }] = makePair(verbs);
  queuePair.postSend({ opcode: Opcode.send, inlineData: new Uint8Array(8) });
  const driver = Reflect.get(queuePair.driver, 'driver') as HcaDriver;
  const afterAnswer = driver.management.afterAnswer!;
  driver.management.afterAnswer = () => {
    // The device has destroyed the queue pair, but the driver still lists it.
    const type = EventType.portActive;
    const nothing = { reason: 0, offset: 0, object: 1, detail: 0n, timestamp: 0n, lost: 0 };
    driver.events.report({ type, name: eventTypeNames[type]!, ...nothing });
    verbs.board.runUntilIdle();
    afterAnswer();
  };
  queuePair.close();
  driver.management.afterAnswer = afterAnswer;
  const names: string[] = [];
  for (let event = verbs.context.pollEvent(); event !== undefined; event = verbs.context.pollEvent())
    names.push(event.name);
  expect(names).toContain('portActive');
  expect(names).not.toContain('virtualCollectBufferError');
});
