import { readFileSync } from 'node:fs';
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

const printed = (name: string): string => `\`\`\`ts\n${readFileSync(`examples/${name}.ts`, 'utf8')}\`\`\``;

it('open-device', async () => {
  expect(await run('open-device')).toEqual(['fpga-verbs emulated board: up to 65534 queue pairs']);
});

it('two-boards, as the README prints it', async () => {
  expect(await run('two-boards')).toEqual([
    'SEND: 4096 B received',
    'fetch and add: 506381209866536711 was there',
  ]);
  expect(readFileSync('README.md', 'utf8')).toContain(printed('two-boards'));
});

it('driver-test-with-faults', async () => {
  expect(await run('driver-test-with-faults')).toEqual([
    'opened: fpga-verbs emulated board',
    expect.stringMatching(/^seen: \d+ read function 0 underlying_function\[0\]\.status: 00000001$/),
    'refused: virtual_collect_buffer_error, at offset 320',
    'lost 1: no event',
    'gone: the device is gone: all ones are read back from its registers',
  ]);
});
