import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { inNamespace, requireNamespaces } from './namespaces.ts';

it('a UDP link accepts packets with any IPv4 identification', async (context) => {
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
  // Flipping any single bit of such a packet damages it.
  expect(damaged).toBe(0);
  // The link assumes identification 0 of a peer that has long sent it, and checks one packet of 16.
  expect(changed).toBeGreaterThanOrEqual(100 - 16);
  expect(changed).toBeLessThan(100);
  // Packets without the don't-fragment bit are accepted from the second on.
  expect(mayFragment).toBe(99);
  // Damaged packets do not change the assumption.
  const changedBehindDamage = damages.pop();
  expect(damages).toEqual([0, 100, 0]);
  expect(changedBehindDamage).toBeLessThan(100);
});
