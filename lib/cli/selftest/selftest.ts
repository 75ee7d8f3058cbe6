import { refuseTwoDrivers } from '../../driver/hca_driver.ts';
import { VerbsError } from '../../index.ts';
import type { Output } from '../output/output.ts';
import { refuseVirtualTime } from '../virtual_time.ts';
import { Bench, type SelftestOptions } from './bench.ts';
import { collectRowByRow, kickOnce } from './collect_steps.ts';
import { SelftestFailure } from './failure.ts';
import { bringUp, interrupt, loopBack, writeRecords } from './host_steps.ts';
import { walkRegisters } from './registers_step.ts';

interface Step {
  readonly name: string;
  /** @returns the observation @throws SelftestFailure */
  readonly run: (bench: Bench) => string | Promise<string>;
  /** Advice if the step fails in an unexpected way. */
  readonly advice: string;
}

const steps: readonly Step[] = [
  {
    name: 'identity',
    run: identify,
    advice:
      'power and link of the board (lspci), memory space enabled in its command register, BAR 0 assigned, no other driver bound',
  },
  { name: 'registers', run: walkRegisters, advice: 'the reads and writes of BAR 0' },
  {
    name: 'management',
    run: bringUp,
    advice:
      'bus mastering and the IOMMU, for the device fetches its commands by DMA; underlying_function.dma_faults; another driver',
  },
  { name: 'collect', run: collectRowByRow, advice: 'the mapping of the virtual collect buffers' },
  { name: 'kick', run: kickOnce, advice: 'collect_buffer' },
  { name: 'DMA', run: writeRecords, advice: 'bus mastering and the IOMMU' },
  { name: 'interrupt', run: interrupt, advice: 'MSI-X' },
  { name: 'loopback', run: loopBack, advice: 'events (hca info), and the state of port 1' },
];
const width = Math.max(...steps.map(({ name }) => name.length)) + 4;

/** The result of a step. */
interface StepResult {
  readonly name: string;
  readonly passed: boolean;
  /** The observation, or the fault. */
  readonly detail: string;
  /** Advice. */
  readonly advice?: string;
}

/**
 * `hca selftest`: brings a board up in order and stops at the first fault. JSON: {device, passed, steps: [{name,
 * passed, detail, advice}]}, without the steps behind the failed one.
 * @throws Error a step failed
 */
export async function selftest(
  output: Output,
  deviceString: string,
  options: SelftestOptions,
): Promise<void> {
  const bench = new Bench(deviceString, options);
  const results: StepResult[] = [];
  try {
    refuseVirtualTime('selftest', bench.board.facts());
    for (const step of steps) {
      options.signal.throwIfAborted();
      const result = await take(step, bench);
      results.push(result);
      output.text(
        `${`${result.name} `.padEnd(width, '.')} ${result.passed ? 'ok' : 'FAILED'}: ${result.detail}\n`,
      );
      if (!result.passed) break;
    }
  } finally {
    closeQuietly(bench, results);
  }
  const failed = results.find(({ passed }) => !passed);
  output.value({ device: deviceString, passed: failed === undefined, steps: results });
  if (failed !== undefined)
    throw new Error(`${failed.name} failed: ${failed.detail}; look at: ${failed.advice}`);
}

async function take({ name, run, advice }: Step, bench: Bench): Promise<StepResult> {
  try {
    return { name, passed: true, detail: await run(bench) };
  } catch (error) {
    if (bench.options.signal.aborted) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    return { name, passed: false, detail, advice: error instanceof SelftestFailure ? error.advice : advice };
  }
}

/** Ignores an error of the reset, because the failed step is the result. */
function closeQuietly(bench: Bench, results: readonly StepResult[]): void {
  try {
    bench.close();
  } catch (error) {
    if (results.every(({ passed }) => passed) || !(error instanceof VerbsError)) throw error;
  }
}

/** Refuses to write to a function that another process uses. */
function identify({ device }: Bench): string {
  refuseTwoDrivers(device);
  const { boardName, version } = device.identity;
  return `${boardName}, interface version ${version.major}.${version.minor}, underlying function ${device.underlyingFunction}`;
}
