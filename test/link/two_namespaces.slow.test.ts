import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, type TestContext } from 'vitest';

import { leaveOut } from '../helpers/tools.ts';
import { inNamespace, requireNamespaces } from './namespaces.ts';

const run = promisify(execFile);
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const small = 'queuePairs=64&pageTableEntries=65536&memoryKeys=256';
const groups = {
  IPv4: '00000000000000000000ffffef010203',
  IPv6: 'ff120000000000000000000012345678',
} as const;
const tcpPort = '18999'; // each namespace has its own

function requireIpv6(context: TestContext): void {
  if (!existsSync('/proc/net/if_inet6')) leaveOut('IPv6 is not in this kernel', context);
}

function requireNetem(context: TestContext): void {
  const words = [...inNamespace, 'tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'loss', '1%'];
  if (spawnSync('unshare', words).status !== 0) leaveOut('tc netem is not in this kernel', context);
}

/** The output of two programs in two namespaces, optionally with netem between them. */
async function between(there: string, beginning: string, netem: readonly string[] = []): Promise<string> {
  // The connecting program retries until the other one listens.
  const again = `until said=$(${beginning} 2>&1); do case $said in *"no end waits"*) ;; *) echo "$said"; exit 1; esac; done; echo "$said"`;
  const script = here('two_namespaces.sh');
  const { stdout } = await run('unshare', [...inNamespace, 'sh', script, there, again, ...netem], {
    timeout: 280_000,
  });
  return stdout;
}

const device = (host: number, options = '', network = '10.77.0.'): string =>
  `'emu:?${small}&link=udp:${network}${host}${options}'`;
const program = (name: string): string => `'${process.execPath}' '${name}'`;

it('a board with an IPv6 address reaches itself through it', async (context) => {
  requireNamespaces(context);
  requireIpv6(context);
  const command = `ip link set lo up && ${program(here('own_address_program.mjs'))} 'emu:?${small}&link=udp:::1'`;
  const { stdout } = await run('unshare', [...inNamespace, 'sh', '-c', command], { timeout: 60_000 });
  expect(stdout).toBe(`${'1'.padStart(32, '0')} true true\n`);
});

it('a board with an IPv6 address reports a multicast group without a route', async (context) => {
  requireNamespaces(context);
  requireIpv6(context);
  const words = `${program(here('multicast_program.mjs'))} 'emu:?${small}&link=udp:::1' ${groups.IPv6} asks`;
  const command = `ip link set lo up && ! ${words} 2>&1`;
  const { stdout } = await run('unshare', [...inNamespace, 'sh', '-c', command], { timeout: 60_000 });
  expect(stdout).toContain('attachMulticast failed: ManagementStatus.unreachable');
});

describe('two network namespaces with a veth between them', { timeout: 300_000 }, () => {
  it.for([
    ['IPv4', '10.77.0.', '::ffff:10.77.0.'],
    ['IPv6', 'fd77::', 'fd77::'],
  ] as const)('play ping-pong over %s', async ([version, network, gid], context) => {
    requireNamespaces(context);
    if (version === 'IPv6') requireIpv6(context);
    const words = (host: number): string =>
      `${program('dist/lib/cli/main.js')} pingpong rc -n 500 --chk --port ${tcpPort} --device ${device(host, '', network)}`;
    const said = await between(`${words(2)} --listen`, `${words(1)} 10.77.0.2`);
    expect(said.match(/^500 iters in/gm)).toHaveLength(2);
    for (const host of [1, 2]) expect(said).toContain(`GID ${gid}${host}\n`);
  });

  it.for([
    ['pingpong rc', /^500 iters in/gm],
    ['lat send', /^2 +500 /gm],
    ['bw write', /^65536 +500 /gm],
  ] as const)('find their UDP link without options for %s', async ([command, figures], context) => {
    requireNamespaces(context);
    const words = `${program('dist/lib/cli/main.js')} ${command} -n 500 --port ${tcpPort} --device 'emu:?${small}'`;
    const said = await between(`${words} --listen`, `${words} 10.77.0.2`);
    expect(said.match(figures)).toHaveLength(2);
    const link = command === 'pingpong rc' ? /GID ::ffff:10\.77\.0\.[12]$/gm : /link=udp:10\.77\.0\.[12],/g;
    expect(new Set(said.match(link))).toHaveProperty('size', 2);
  });

  it.for([
    ['IPv4', '10.77.0.'],
    ['IPv6', 'fd77::'],
  ] as const)('reach each other in a multicast group of %s', async ([version, network], context) => {
    requireNamespaces(context);
    if (version === 'IPv6') requireIpv6(context);
    const words = (host: number, role: string): string =>
      `${program(here('multicast_program.mjs'))} ${device(host, '', network)} ${groups[version]} ${role}`;
    const said = await between(words(2, 'listens'), words(1, 'asks'));
    expect(said).toContain('listens, and has heard\n');
    expect(said).toContain('asks, and has heard\n');
  });

  it.for([
    ['unimpaired', '', []],
    [
      'with lost, duplicated and reordered packets in the port',
      '&linkLoss=0.0005&linkDuplication=0.001&linkReordering=0.001',
      [],
    ],
    ['with netem, if the kernel has it', '', ['loss', '0.5%', 'reorder', '1%', 'delay', '1ms']],
  ] as const)('write memory that arrives unchanged, %s', async ([, options, netem], context) => {
    requireNamespaces(context);
    if (netem.length > 0) requireNetem(context);
    const bytes = netem.length === 0 ? 2 ** 30 : 2 ** 24;
    const words = (host: number): string =>
      `${program(here('write_program.mjs'))} ${device(host, options)} ${tcpPort} ${bytes}`;
    const said = await between(words(2), `${words(1)} 10.77.0.2`, netem);
    expect(said).toContain(`${bytes} B written, all right`);
  });
});
