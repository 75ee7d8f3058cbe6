import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { inNamespace, requireNamespaces } from './namespaces.ts';

it('a UDP link takes packets whose IPv4 header has another identification than its own', async (context) => {
  requireNamespaces(context);
  requireTool('python3', context);
  const program = fileURLToPath(new URL('identification_program.mjs', import.meta.url));
  const command = `ip link set lo up && '${process.execPath}' '${program}' 11`;
  const { stdout } = await promisify(execFile)('unshare', [...inNamespace, 'sh', '-c', command], {
    timeout: 100_000,
  });
  const [zeros, counted, damaged, again, changed, back, mayFragment, ...damages] = JSON.parse(
    stdout,
  ) as number[];
  expect({ zeros, counted, again, back }).toEqual({ zeros: 100, counted: 100, again: 100, back: 100 });
  // Each bit of such a packet, one at a time, damages it.
  expect(damaged).toBe(0);
  // A peer that has sent 0 for long is believed to: one packet of 16 is looked at.
  expect(changed).toBeGreaterThanOrEqual(100 - 16);
  expect(changed).toBeLessThan(100);
  // Packets that may be fragmented are believed from the second on.
  expect(mayFragment).toBe(99);
  // Damage is no reason to believe a peer less.
  const changedBehindDamage = damages.pop();
  expect(damages).toEqual([0, 100, 0]);
  expect(changedBehindDamage).toBeLessThan(100);
});
