import { spawnSync } from 'node:child_process';
import type { TestContext } from 'vitest';

import { leaveOut, requireTool } from '../helpers/tools.ts';

/** Arguments of unshare: a network namespace in which this user has all rights. */
export const inNamespace = ['--user', '--map-root-user', '--net'];

/** Requires user-owned network namespaces with a veth between them, which not every machine allows. */
export function requireNamespaces(context: TestContext): void {
  requireTool('ip', context);
  const words = [
    ...inNamespace,
    'sh',
    '-c',
    'unshare --net true && ip link add here type veth peer name there',
  ];
  const { status, stderr, error } = spawnSync('unshare', words, { encoding: 'utf8' });
  if (status !== 0) leaveOut(`network namespaces are refused: ${error?.message ?? stderr.trim()}`, context);
}
