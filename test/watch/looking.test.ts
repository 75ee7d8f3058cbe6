// The page costs the board nothing while no page looks: the rings that a board writes for observers are memory that can be counted.
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { runCommandLine } from '../../lib/cli/command_line.ts';
import { until } from '../helpers/hca_process.ts';

const small = 'queuePairs=64&pageTableEntries=1024&memoryKeys=256';

/** The number of rings that boards of this process write for observers. */
const rings = (): number =>
  readFileSync('/proc/self/maps', 'utf8').split('memfd:fpga-verbs-watch').length - 1;

it('hca watch observes the board only while a page is open and not paused', async () => {
  const ending = new AbortController();
  let out = '';
  const ended = runCommandLine(
    ['watch', '--device', `emu:?${small}`],
    { out: (text) => (out += text), error: (text) => (out += text) },
    ending.signal,
  );
  await until(() => out.includes('Ctrl+C'), 'the address');
  expect(rings()).toBe(0);
  const { href, origin } = new URL(/http:\S+/.exec(out)![0]);
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`${href.replace('http', 'ws')}live`, { origin });
    await once(socket, 'open');
    return socket;
  };
  const [one, other] = [await open(), await open()];
  const kinds = new Set<string>();
  one.on('message', (data: Buffer) => kinds.add((JSON.parse(data.toString()) as { kind: string }).kind));
  await until(() => kinds.has('state') && kinds.has('ways') && kinds.has('queuePairs'), 'all messages');
  expect(rings()).toBe(3); // kicks, completions and events, for any number of pages
  other.send('{"kind":"pause","paused":true}');
  one.close();
  await until(() => rings() === 0, 'the end of the watches');
  other.send('{"kind":"pause","paused":false}');
  await until(() => rings() === 3, 'watches');
  ending.abort();
  expect(await ended).toBe(0);
  expect(rings()).toBe(0);
});
