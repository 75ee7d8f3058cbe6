import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { requireTool } from '../tools.ts';
import { goldenEntries } from './golden_entries.ts';

const fpga = fileURLToPath(new URL('../../fpga/', import.meta.url));

/** Builds the bench and runs it; what it prints. */
function run(verilator: string, bench: string, directory: string): string {
  const sources = [path.join(fpga, 'rtl/base/hca_spec_pkg.sv'), bench];
  execFileSync(
    verilator,
    ['--binary', '--Mdir', directory, '--top-module', 'spec_golden_tb', '-O0', '-CFLAGS', '-O0', ...sources],
    { stdio: 'pipe' },
  );
  return execFileSync(path.join(directory, 'Vspec_golden_tb'), { encoding: 'utf8', stdio: 'pipe' });
}

it('SystemVerilog writes and reads every golden structure', (context) => {
  const verilator = requireTool('verilator', context);
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-golden-'));
  try {
    const printed = run(verilator, path.join(fpga, 'tb/spec_golden_tb.sv'), directory);
    expect(printed).toContain(`${goldenEntries.length}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
