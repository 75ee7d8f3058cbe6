import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import { IDENTITY_MAGIC_OFFSET } from '../../lib/spec/index.ts';
import { testAddonPath } from '../helpers/test_addon.ts';
import { FakeHost, fakeAddress } from './fake_host.ts';

const program = fileURLToPath(new URL('zapped_program.mjs', import.meta.url));
const module = fileURLToPath(new URL('../../dist/lib/board/pci/open_pci.js', import.meta.url));
const allOnes = 0xffff_ffff;

/** Runs a separate program, because a SIGBUS without a handler ends it. */
function run(way: string): SpawnSyncReturns<string> {
  const host = new FakeHost();
  host.add();
  return spawnSync(process.execPath, [program, module, testAddonPath(), host.root, fakeAddress, way], {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
}

describe('a BAR that disappears while the process uses it', () => {
  it.each(['read', 'command'])('reads all ones, drops writes, and is reported by the next %s', (way) => {
    const { stdout, stderr, signal } = run(way);
    expect([signal, stderr]).toEqual([null, '']);
    expect(JSON.parse(stdout)).toEqual({
      values: [allOnes, allOnes, allOnes],
      others: 0,
      reason: 'its BARs do not answer: it was removed, or its memory accesses are disabled',
    });
    expect(IDENTITY_MAGIC_OFFSET).toBe(0);
  });

  it('leaves a SIGBUS elsewhere to the handler that was installed before', () => {
    const { stdout, signal } = run('chained');
    expect(signal).toBeNull();
    expect(JSON.parse(stdout)).toMatchObject({ values: [allOnes, allOnes, allOnes], others: 1 });
  });

  it('leaves a SIGBUS elsewhere fatal if no handler was installed', () => {
    expect(run('elsewhere').signal).toBe('SIGBUS');
  });
});
