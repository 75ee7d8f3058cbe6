import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { corpora, inputsOf } from '../../scripts/fuzz_corpus.mjs';
import { fuzzPort } from './fuzz_port.ts';

describe.each(fuzzPort.fuzzTargets())('fuzz target %s', (target) => {
  const inputs = inputsOf(target);

  it('has a corpus', () => {
    expect(inputs.size).toBeGreaterThan(0);
  });

  it.each([...inputs])('holds for input %s', (_, input) => {
    expect(fuzzPort.runFuzzTarget(target, input)).toBe('');
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
  expect(corpora().sort()).toEqual([...fuzzPort.fuzzTargets()].sort());
});
