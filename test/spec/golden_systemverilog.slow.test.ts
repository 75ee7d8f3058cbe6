import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { requireTool } from '../helpers/tools.ts';
import { goldenEntries } from './golden_entries.ts';

const fpga = fileURLToPath(new URL('../../fpga/', import.meta.url));
const generator = path.join(fpga, 'spec/generator');
const { readModel } = (await import(path.join(generator, 'model.mjs'))) as {
  readModel(directory: string): unknown;
};
const { readGolden } = (await import(path.join(generator, 'golden.mjs'))) as {
  readGolden(directory: string, model: unknown): unknown;
};
const { systemVerilogGolden } = (await import(path.join(generator, 'golden_systemverilog.mjs'))) as {
  systemVerilogGolden(golden: unknown): string;
};

it('SystemVerilog writes and reads every golden structure', (context) => {
  const verilator = requireTool('verilator', context);
  const directory = mkdtempSync(path.join(tmpdir(), 'fpga-verbs-golden-'));
  try {
    const sources = ['rtl/base/hca_spec_pkg.sv', 'tb/spec_golden_tb.sv'].map((name) => path.join(fpga, name));
    const options = ['--binary', '--Mdir', directory, '--top-module', 'spec_golden_tb', '-O0'];
    execFileSync(verilator, [...options, '-CFLAGS', '-O0', ...sources], { stdio: 'pipe' });
    const file = path.join(directory, 'golden.txt');
    const run = (data: string): string => {
      writeFileSync(file, data);
      const bench = path.join(directory, 'Vspec_golden_tb');
      return spawnSync(bench, [`+GOLDEN=${file}`], { encoding: 'utf8' }).stdout;
    };
    const data = systemVerilogGolden(readGolden(path.join(fpga, 'spec'), readModel(path.join(fpga, 'spec'))));
    expect(run(data)).toContain(`${goldenEntries.length} golden structures`);

    const differing = run('ring_head some_head 0000000000001234 1235\n');
    expect(differing).toContain('some_head.head is read wrongly');
    expect(differing).not.toContain('golden structures');
    expect(run('ring_head some_head 0000000100001234 1234\n')).toContain('some_head is written wrongly');
    expect(run('ring_head some_head 0000000000001234\n')).toContain('some_head has too few fields');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
