// Transport contexts: each field of a queue pair context belongs to the connection or to the queue pair, and
// blocks access those of the connection by one interface.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { formatDescriptions } from '../../lib/spec/index.ts';
import { root } from '../helpers/documents.ts';

const device = path.join(root, 'native/hca');
const context = 'queue_pair/transport_context.h';
const parts = 'queue_pair/queue_pair_parts.h';
const textOf = (file: string): string => readFileSync(path.join(device, file), 'utf8');

/** Fields of a part for which a header exposes accessors, to read and to write. */
function exposed(file: string, part: string): { readonly read: string[]; readonly written: string[] } {
  const names = [...textOf(file).matchAll(new RegExp(`using spec::${part}::(\\w+);`, 'g'))].map(
    ([, name]) => name!,
  );
  return {
    read: names.filter((name) => !name.startsWith('set_')).sort(),
    written: names
      .filter((name) => name.startsWith('set_'))
      .map((name) => name.slice(4))
      .sort(),
  };
}

describe('a queue pair context', () => {
  it.each([
    ['queue_pair_requester', 'QueuePairRequester'],
    ['queue_pair_completion', 'QueuePairCompletion'],
    ['queue_pair_responder', 'QueuePairResponder'],
  ])('%s: each field is the connection’s or the queue pair’s', (format, part) => {
    const fields = formatDescriptions.find(({ name }) => name === format)!.fields.map(({ name }) => name);
    const [connection, queuePair] = [exposed(context, part), exposed(parts, part)];
    expect(connection.read.length).toBeGreaterThan(0);
    expect([...connection.read, ...queuePair.read].sort()).toEqual([...fields].sort());
    expect(connection.written).toEqual(connection.read);
    expect(queuePair.written).toEqual(queuePair.read);
  });

  it('has one interface to the peer, the limits and the timers of a connection, besides the management commands that set them', () => {
    const fields = [...textOf(context).matchAll(/control_\.(\w+)\(\)/g)].map(([, name]) => name!);
    expect(fields.length).toBeGreaterThan(8);
    const direct = new RegExp(`\\bcontrol(?:\\(\\))?\\.(?:${fields.join('|')})\\(`);
    const others = readdirSync(device, { recursive: true, encoding: 'utf8' }).filter(
      (file) => /\.(h|cpp)$/.test(file) && !file.startsWith('management/'),
    );
    expect(others.length).toBeGreaterThan(100);
    expect(others.filter((file) => direct.test(textOf(file)))).toEqual([]);
  });
});
