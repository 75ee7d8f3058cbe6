import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

// Boards that other processes of this user serve by a name are none of a test's: it and its processes see those alone that it serves.
const folder = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-run-'));
process.env['XDG_RUNTIME_DIR'] = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
