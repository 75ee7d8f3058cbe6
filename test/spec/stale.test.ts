import { describe, expect, it } from 'vitest';
import { SpecificationCopy, allOfSpecification, repository, runGenerator } from './specification_copy.ts';

describe('generated files', () => {
  it('match the specification', () => {
    expect(runGenerator(repository, '--check')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('are named after a change of the specification, and can be written', () => {
    const copy = new SpecificationCopy(...allOfSpecification);
    copy.replace(
      'fpga/spec/parameters.json',
      '"name": "scheduler_batch", "value": 4',
      '"name": "scheduler_batch", "value": 5',
    );
    const check = copy.generate('--check');
    expect(check.status).toBe(1);
    expect(check.stdout.trim().split('\n')).toEqual([
      'stale: native/spec/parameters.h',
      'stale: fpga/doc/formats.md',
      'stale: fpga/rtl/base/hca_spec_pkg.sv',
      'stale: lib/spec/parameters.ts',
      'stale: lib/spec/descriptions.ts',
      'run `npm run generate`, and check in what it writes',
    ]);
    expect(copy.generate().status).toBe(0);
    expect(copy.generate('--check').status).toBe(0);
  });

  it('are named after an edit by hand', () => {
    const copy = new SpecificationCopy(...allOfSpecification);
    copy.replace('native/spec/parameters.h', 'scheduler_batch = 4u', 'scheduler_batch = 5u');
    const check = copy.generate('--check');
    expect(check.status).toBe(1);
    expect(check.stdout).toContain('stale: native/spec/parameters.h\n');
  });

  it('a nonexistent option is refused', () => {
    expect(runGenerator(repository, '--chekc')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'usage: node fpga/spec/generate.mjs [--check]\n',
    });
  });
});
