import { expect, it } from 'vitest';

import { runHca } from './run_hca.ts';

it('hca demo checks every operation and measures', async () => {
  const { exitCode, error, json } = await runHca(['demo', '--json']);
  expect(error).toBe('');
  expect(exitCode).toBe(0);
  const [{ checks, figures }] = json() as [{ checks: { name: string; bytes: number }[]; figures: object[] }];
  expect(checks.map(({ name }) => name)).toEqual([
    'SEND',
    'SEND with immediate',
    'SEND, inline',
    'SEND, gathered from 4 pieces',
    'RDMA WRITE',
    'RDMA WRITE with immediate',
    'RDMA READ',
    'atomic compare and swap',
    'atomic fetch and add',
  ]);
  expect(checks.every(({ bytes }) => bytes > 0)).toBe(true);
  expect(figures).toHaveLength(6);
});

it('hca demo ends when it is interrupted', async () => {
  const interrupted = AbortSignal.abort();
  expect(await runHca(['demo'], interrupted)).toMatchObject({ exitCode: 1, error: 'hca: interrupted\n' });
});
