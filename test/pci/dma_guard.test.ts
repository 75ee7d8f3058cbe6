import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

import { testAddonPath } from '../helpers/test_addon.ts';

const master = 0x0004;
const program = `
  const test = require(process.argv[1]);
  test.startDmaGuard(process.argv[2], process.argv[2]);
  process.stdout.write('guarded');
  setInterval(() => {}, 1000);`;

it('the DMA guard ends the DMA of a function when the process is killed, and needs only a shell', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-guard-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const configuration = path.join(folder, 'config');
  const before = Buffer.alloc(64, 0x5a);
  before.writeUInt16LE(0x0546, 4);
  writeFileSync(configuration, before);
  const child = spawn(process.execPath, ['-e', program, testAddonPath(), configuration], {
    env: { ...process.env, PATH: folder }, // where there is no dd
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(readFileSync(configuration).equals(before)).toBe(true);
  const watcher = watch(configuration);
  const changed = once(watcher, 'change', { signal: AbortSignal.timeout(30_000) });
  child.kill('SIGKILL');
  await changed;
  watcher.close();
  const after = Buffer.from(before);
  after.writeUInt16LE(0x0546 & ~master, 4);
  expect(readFileSync(configuration).equals(after)).toBe(true);
});
