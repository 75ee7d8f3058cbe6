import { expect, it } from 'vitest';

import { runHca } from '../helpers/run_hca.ts';

it('hca demo checks every operation and measures', async () => {
  const { exitCode, error, json } = await runHca(['demo', '--json']);
  expect(error).toBe('');
  expect(exitCode).toBe(0);
  const [{ checks, figures }] = json() as [
    { checks: { name: string; bytes: number }[]; figures: Record<string, number>[] },
  ];
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
  expect(figures.map(({ size }) => size)).toEqual([8, 64, 1024, 4096, 65_536, 1 << 20]);
  for (const figure of figures) for (const value of Object.values(figure)) expect(value).toBeGreaterThan(0);
});

it('hca demo ends on an interrupt', async () => {
  const interrupted = AbortSignal.abort();
  expect(await runHca(['demo'], interrupted)).toMatchObject({ exitCode: 1, error: 'hca: interrupted\n' });
});
