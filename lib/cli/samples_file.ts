import { closeSync, openSync, writeSync } from 'node:fs';

import { parts, type Samples } from './doorbell_measurement.ts';

/** CSV file of every sample of `hca doorbell`. It is opened before the measurement, and complete after each payload. */
export class SamplesFile {
  private readonly file: number;

  /** @throws Error of the system if the file cannot be written */
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
