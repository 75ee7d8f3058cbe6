import { closeSync, openSync, writeSync } from 'node:fs';

import { parts, type Samples } from './doorbell_measurement.ts';

/** Every sample of `hca doorbell`, as CSV. It is opened before anything is measured, and whole after each payload. */
export class SamplesFile {
  private readonly file: number;

  /** @throws Error of the system when the file cannot be written */
  constructor(path: string) {
    this.file = openSync(path, 'w');
    writeSync(
      this.file,
      `${['payload_bytes', 'post', ...parts.map(({ name }) => `${name}_ns`)].join(',')}\n`,
    );
  }

  add(payloadBytes: number, samples: Samples): void {
    const lines = Array.from(samples.lastStoreToRecord, (_, post) =>
      [payloadBytes, post, ...parts.map(({ name }) => samples[name][post]!.toFixed(1))].join(','),
    );
    writeSync(this.file, `${lines.join('\n')}\n`);
  }

  close(): void {
    closeSync(this.file);
  }
}
