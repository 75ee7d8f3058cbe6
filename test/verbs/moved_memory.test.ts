import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('moved_program.mjs', import.meta.url));
const library = fileURLToPath(new URL('../../dist/lib/index.js', import.meta.url));
// Node 20 needs a flag for it, which later versions do not know.
const flags = 'transfer' in ArrayBuffer.prototype ? [] : ['--harmony-rab-gsab-transfer'];

function run(way: string): unknown {
  return JSON.parse(execFileSync(process.execPath, [...flags, program, library, way], { encoding: 'utf8' }));
}

describe('memory and ArrayBuffer.prototype.transfer', () => {
  it('that was allocated lives as long as the buffer to which it was moved', () => {
    expect(run('allocated')).toEqual({ left: 0, sum: 7 * 8192 });
  });

  it('that was registered cannot be moved', () => {
    const refusal =
      'TypeError: the memory of this ArrayBuffer was registered, and cannot be moved; use slice(), which copies';
    expect(run('registered')).toEqual({ refusals: [refusal, refusal], left: 8192 });
  });

  it('that could be moved because it is frozen is refused and unmapped', () => {
    const { refusals, mapped } = run('frozen') as { refusals: string[]; mapped: number };
    expect(mapped).toBe(1);
    expect(refusals).toEqual([
      expect.stringMatching(/^TypeError: the ArrayBuffer cannot be kept in place: its transfer .* frozen/),
      expect.stringMatching(/^RangeError: nothing is mapped/),
    ]);
  });
});
