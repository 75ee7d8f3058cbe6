import { runCommandLine } from '../../lib/cli/command_line.ts';

/** Result of a run of `hca`. */
export interface HcaRun {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
  /** The lines of `out`, each read as JSON. */
  readonly json: () => unknown[];
}

/** Runs `hca` in this process. */
export async function runHca(
  words: readonly string[],
  signal = new AbortController().signal,
): Promise<HcaRun> {
  const text = { out: '', error: '' };
  const exitCode = await runCommandLine(
    words,
    {
      out: (part) => {
        text.out += part;
      },
      error: (part) => {
        text.error += part;
      },
    },
    signal,
  );
  const json = (): unknown[] =>
    text.out
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
  return { exitCode, ...text, json };
}
