import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

import { hostFolder, guestTests, runGuest, type GuestRun } from './guest.ts';

const onceMore = (guestTests(1).retry as { condition: RegExp }).condition;

/** A run with a shell script as the emulator. */
function runEmulator(script: string): Promise<GuestRun> {
  const host = hostFolder();
  const emulator = path.join(host, 'emulator');
  writeFileSync(emulator, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return runGuest(emulator, host, { script: '', machine: [], seconds: 10 });
}

it.each([
  { how: 'ends', script: 'echo said', console: 'said\n', crashed: false },
  { how: 'fails', script: 'echo said >&2; exit 1', console: 'said\n', crashed: false },
  { how: 'is ended', script: 'echo said; kill $$', console: 'said\n', crashed: false },
  {
    how: 'crashes',
    script: 'echo said; kill -SEGV $$',
    console: 'said\n\nthe emulator crashed: SIGSEGV',
    crashed: true,
  },
])('a run reports that its emulator $how', async ({ script, console, crashed }) => {
  const run = await runEmulator(script);
  expect(run).toEqual({ console, status: undefined });
  expect(onceMore.test(run.console)).toBe(crashed);
});
