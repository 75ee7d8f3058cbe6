import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

// A test and its processes see only the boards that the test serves, not those of other processes of this user.
const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-run-'));
process.env['XDG_RUNTIME_DIR'] = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
