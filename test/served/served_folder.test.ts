import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import * as os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { findServedBoards, newServedPath, servedPath } from '../../lib/board/served_boards.ts';

const anotherUser = vi.hoisted(() => ({ uid: undefined as number | undefined }));

vi.mock('node:os', async (original) => {
  const real = await original<typeof os>();
  return { ...real, userInfo: () => ({ ...real.userInfo(), uid: anotherUser.uid ?? real.userInfo().uid }) };
});

describe('the folder of served boards', () => {
  let runtime: string;
  let folder: string;

  beforeEach(() => {
    runtime = mkdtempSync(path.join(os.tmpdir(), 'fpga-verbs-folder-'));
    folder = path.join(runtime, 'fpga-verbs');
    vi.stubEnv('XDG_RUNTIME_DIR', runtime);
  });

  afterEach(() => {
    anotherUser.uid = undefined;
    vi.unstubAllEnvs();
    rmSync(runtime, { recursive: true });
  });

  it('is created with access for this user only', () => {
    expect(servedPath('lab')).toBe(path.join(folder, 'lab'));
    expect(newServedPath('lab')).toBe(path.join(folder, 'lab'));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(newServedPath('lab')).toBe(path.join(folder, 'lab'));
  });

  it.each<[string, () => void, string]>([
    ['of another user', () => (mkdirSync(folder, 0o700), (anotherUser.uid = 12_345)), 'it is of user '],
    ['open to others', () => (mkdirSync(folder), chmodSync(folder, 0o770)), 'it has mode 0770'],
    ['a link', () => (mkdirSync(`${folder} `, 0o700), symlinkSync(`${folder} `, folder)), 'it is no folder'],
    ['a file', () => writeFileSync(folder, '', { mode: 0o700 }), 'it is no folder'],
  ])('is not used if it is %s', (_, make, fault) => {
    make();
    for (const find of [servedPath, newServedPath]) expect(() => find('lab')).toThrow(fault);
    expect(() => servedPath('lab')).toThrow(`names of served boards lie in ${folder}, and ${fault}`);
    expect(findServedBoards()).toEqual([]);
    expect(servedPath('/tmp/lab')).toBe('/tmp/lab');
  });
});
