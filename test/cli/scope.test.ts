import { expect, it } from 'vitest';

import { Scope } from '../../lib/cli/scope.ts';

const { signal } = new AbortController();

it('closes its objects, newest first, and waits for each', async () => {
  const closed: string[] = [];
  const result = await Scope.run(signal, async (scope) => {
    scope.use({ [Symbol.dispose]: () => closed.push('first') });
    scope.hold('second', async (name, failure) => {
      await new Promise((resolve) => setImmediate(resolve));
      closed.push(`${name} ${String(failure)}`);
    });
    return 7;
  });
  expect(result).toBe(7);
  expect(closed).toEqual(['second undefined', 'first']);
});

it('closes all objects if the body or a close fails, and throws the first error', async () => {
  const failures: unknown[] = [];
  const run = Scope.run(signal, (scope) => {
    scope.hold(0, (_, failure) => void failures.push(failure));
    scope.hold(0, (_, failure) => {
      failures.push(failure);
      throw new Error('closing fails');
    });
    throw new Error('the body fails');
  });
  await expect(run).rejects.toThrow('the body fails');
  expect(failures).toEqual([new Error('the body fails'), new Error('the body fails')]);
});

it('fails when closing fails', async () => {
  const failures: unknown[] = [];
  const run = Scope.run(signal, (scope) => {
    scope.hold(0, (_, failure) => void failures.push(failure));
    scope.hold(0, () => Promise.reject(new Error('closing fails')));
  });
  await expect(run).rejects.toThrow('closing fails');
  expect(failures).toEqual([new Error('closing fails')]);
});
