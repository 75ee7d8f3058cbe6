import { expect, it } from 'vitest';

import { Waiters } from '../../lib/verbs/waiters.ts';

it('waiters are removed when woken, abandoned, aborted or timed out', async () => {
  const waiters = new Waiters();
  const controller = new AbortController();
  const aborted = waiters.wait({ signal: controller.signal });
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  expect(waiters.count).toBe(0);
  await expect(waiters.wait({ timeout: 1 })).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(waiters.count).toBe(0);
  const woken = [waiters.wait({}), waiters.wait({ timeout: 2 ** 40 })];
  expect(waiters.count).toBe(2);
  waiters.wake();
  await Promise.all(woken);
  expect(waiters.count).toBe(0);
  const abandoned = waiters.wait({});
  waiters.abandon(new Error('gone'));
  await expect(abandoned).rejects.toThrow('gone');
  expect(waiters.count).toBe(0);
});
