import { closeSync, openSync, writeSync } from 'node:fs';

import { VerbsError } from '../../index.ts';
import type { Scope } from '../scope.ts';
import type { PlotRun } from './run.ts';
import { distributionSvg, type PlotTexts } from './svg.ts';

/** The plot of a measurement. The file is opened before the measurement, and written after it. */
export class PlotFile {
  private readonly file: number;
  private readonly runs: PlotRun[] = [];

  /** @throws VerbsError EIO: it cannot be written */
  constructor(path: string, scope: Scope) {
    try {
      this.file = scope.hold(openSync(path, 'w'), closeSync);
    } catch (error) {
      throw new VerbsError(`the plot ${path} cannot be written: ${(error as Error).message}`, {
        code: 'EIO',
        verb: 'plot',
        attribute: '--plot',
        expected: 'a file that can be created, such as doorbell.svg',
      });
    }
  }

  /** A run without samples, as of the other end, is left out. */
  add(label: string, samples: Float64Array): void {
    if (samples.length > 0) this.runs.push({ label, samples });
  }

  write(texts: PlotTexts): void {
    if (this.runs.length > 0) writeSync(this.file, distributionSvg(this.runs, texts));
  }
}
