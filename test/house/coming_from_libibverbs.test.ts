import { afterAll, describe, expect, it } from 'vitest';

import * as verbs from '../../lib/index.ts';
import { quoted, read, rowsOf } from '../helpers/documents.ts';

const rows = rowsOf(read('docs/coming-from-libibverbs.md'));
const theirs = rows.flatMap(([first]) => quoted(first!));
const { functions, enumerations } = JSON.parse(read('test/house/libibverbs.json')) as {
  functions: readonly string[];
  enumerations: Readonly<Record<string, readonly string[]>>;
};

describe('every name of libibverbs is listed', () => {
  const patterns = theirs
    .filter((name) => name.includes('*'))
    .map((name) => new RegExp(`^${name.replaceAll('*', '.*')}$`));
  const isNamed = (name: string): boolean =>
    theirs.includes(name) || patterns.some((pattern) => pattern.test(name));

  it('functions', () => {
    expect(functions.filter((name) => !isNamed(name))).toEqual([]);
  });

  it.each(Object.entries(enumerations))('%s', (_, values) => {
    expect(values.filter((name) => !isNamed(name))).toEqual([]);
  });

  it('and no others, and none twice', () => {
    const known = [...functions, ...Object.values(enumerations).flat()];
    const exact = theirs.filter((name) => /^ibv_|^IBV_/i.test(name) && !name.includes('*'));
    expect(exact.filter((name) => !known.includes(name))).toEqual([]);
    expect(exact.filter((name, index) => exact.indexOf(name) !== index)).toEqual([]);
    expect(patterns.filter((pattern) => !known.some((name) => pattern.test(name)))).toEqual([]);
  });
});

const context = verbs.openDevice('emu:');
afterAll(() => context[Symbol.dispose]());
const protectionDomain = context.createProtectionDomain();
const completionQueue = context.createCompletionQueue();
const queues = { sendCompletionQueue: completionQueue, receiveCompletionQueue: completionQueue };

/** Objects of the verbs, by their names in the document. */
const objects: Readonly<Record<string, object>> = {
  device: verbs.getDeviceList()[0]!,
  context,
  protectionDomain,
  region: protectionDomain.allocate(8),
  completionQueue,
  completion: new verbs.Completion(),
  queuePair: protectionDomain.createQueuePair({ type: 'RC', ...queues }),
};

describe('every name of ours exists', () => {
  const ours = rows.flatMap(([, second]) => quoted(second!));
  const members = ours.flatMap((code) => [...code.matchAll(/\b(\w+)\.(\w+)/g)]).map(([, a, b]) => [a!, b!]);

  it('values', () => {
    const exported = members.filter(([name]) => /^[A-Z]/.test(name!));
    expect(exported.length).toBeGreaterThan(80);
    for (const [name, value] of exported)
      expect(Reflect.get(verbs, name!), `${name}.${value}`).toHaveProperty(value!);
  });

  it('members', () => {
    const known = members.filter(([name]) => Object.hasOwn(objects, name!));
    expect(known.length).toBeGreaterThan(40);
    expect(known.filter(([name, member]) => !Reflect.has(objects[name!]!, member!))).toEqual([]);
  });

  it('functions and tables of names', () => {
    const called = ours
      .flatMap((code) => [...code.matchAll(/(?<![.\w])([a-zA-Z]+)[([]/g)])
      .map(([, name]) => name!);
    const free = called.filter((name) => !['await', 'for'].includes(name));
    expect(free.length).toBeGreaterThan(3);
    for (const name of free) expect(verbs).toHaveProperty(name);
  });
});
