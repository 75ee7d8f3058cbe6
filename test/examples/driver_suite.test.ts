// The suite that users copy, as they run it.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

await import('../../examples/driver-suite.test.ts');

it('the suite prints how to run it', () => {
  expect(readFileSync('examples/driver-suite.test.ts', 'utf8')).toMatch(
    /^\/\/ Run it: npx vitest run driver-suite\.test\.ts$/m,
  );
});
