import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { fuzzPort } from './fuzz_port.ts';

const corpus = fileURLToPath(new URL('corpus', import.meta.url));

describe.each(fuzzPort.fuzzTargets())('fuzz target %s', (target) => {
  const inputs = readdirSync(path.join(corpus, target));

  it('has a corpus', () => {
    expect(inputs.length).toBeGreaterThan(0);
  });

  it.each(inputs)('holds for input %s', (input) => {
    expect(fuzzPort.runFuzzTarget(target, readFileSync(path.join(corpus, target, input)))).toBe('');
  });

  it('holds for other inputs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (input) => {
        expect(fuzzPort.runFuzzTarget(target, input)).toBe('');
      }),
      { numRuns: 50 },
    );
  });
});

it('the corpora are those of the targets', () => {
  expect(readdirSync(corpus).sort()).toEqual([...fuzzPort.fuzzTargets()].sort());
});
