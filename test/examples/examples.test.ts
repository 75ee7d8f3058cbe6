import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';

const source = (name: string): string => readFileSync(`examples/${name}.ts`, 'utf8');

/** Runs an example without arguments and returns its output. */
async function run(name: string): Promise<string[]> {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  const { argv } = process;
  process.argv = argv.slice(0, 2);
  try {
    await import(`../../examples/${name}.ts`);
  } finally {
    process.argv = argv;
    log.mockRestore();
  }
  return lines;
}

/** Lines that each example must print. */
const printed: Readonly<Record<string, readonly unknown[]>> = {
  'hello-verbs': ['work request 1 done, 13 B', 'work request 2 done, 13 B', 'Hello, verbs!'],
  'two-boards': ['SEND: 4096 B received', 'fetch and add: 506381209866536711 was there'],
  'file-copy': ['1000000 B in 16 RDMA WRITEs: the same'],
  'key-value-store': [
    'color: blue, shape: round',
    'weight: undefined',
    'color: green, after reads that found it half written',
  ],
  'driver-test-with-faults': [
    expect.stringMatching(/^seen: \d+ write function 0 vcb 0 \+ 0x0, 64 B$/),
    expect.stringMatching(/^seen: \d+ write function 0 vcb 0 \+ 0x40, 16 B$/),
    'lost: 2 writes',
    'refused: dmaFault at the data',
    'gone: a driver that is opened now says so',
  ],
  rpc: [0, 1, 2].map((number) => `4 replies, the last: CLIENT ${number}, CALL 3`),
  'ring-of-boards': [0, 1, 2, 3].map((rank) => `rank ${rank} of 4: the sum is 1111`),
  'doorbell-study': ['7 payloads, 200 commands each: doorbell.svg'],
};

/** Suites for vitest, which run beside this one: driver_suite.test.ts. */
const suites = ['driver-suite.test'];

it('all run here', () => {
  const names = readdirSync('examples').map((name) => path.basename(name, '.ts'));
  expect(names.sort()).toEqual([...Object.keys(printed), ...suites].sort());
});

describe.each(Object.keys(printed))('%s', (name) => {
  it('prints what it should', async () => {
    expect(await run(name)).toEqual(printed[name]);
  });

  it('prints how to run it', () => {
    expect(source(name)).toMatch(new RegExp(`^// Run it: node dist/examples/${name}\\.js( \\[.*\\])?$`, 'm'));
  });
});

it('hello-verbs is printed in the README', () => {
  expect(readFileSync('README.md', 'utf8')).toContain(`\`\`\`ts\n${source('hello-verbs')}\`\`\``);
});
