import { expect, it, vi } from 'vitest';

/** Runs an example; what it prints. */
async function run(name: string): Promise<string[]> {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  try {
    await import(`../../examples/${name}.ts`);
  } finally {
    log.mockRestore();
  }
  return lines;
}

it('driver-test-with-faults', async () => {
  expect(await run('driver-test-with-faults')).toEqual([
    'opened: fpga-verbs emulated board',
    expect.stringMatching(/^seen: \d+ read function 0 underlying_function\[0\]\.status: 00000001$/),
    'refused: virtual_collect_buffer_error, at offset 320',
    'lost 1: no event',
    'gone: the device is gone: all ones are read back from its registers',
  ]);
});
