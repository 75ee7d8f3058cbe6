import { QualityOfServiceLevel } from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { blockNamed, readNamed, registerNamed } from './named_registers.ts';

/** Credits of one kind that the lanes of a level have at a moment (US8484392, status of quality of service levels). */
export interface CreditStatus {
  /** Credits that the lanes own. */
  readonly own: number;
  /** Of the own ones, those that are free. */
  readonly ownFree: number;
  /** Shared credits that the lanes hold. */
  readonly sharedHeld: number;
  /** Shared credits that are free for all lanes. */
  readonly sharedFree: number;
}

/** Credits of a level of a function. Those of a lane that serves both levels count for both. */
export interface LevelCredits {
  /** The level. */
  readonly level: QualityOfServiceLevel;
  /** Credits to be executed. */
  readonly execution: CreditStatus;
  /** Credits until a command is acknowledged or has left. */
  readonly completion: CreditStatus;
}

/** The credits of the function's levels, low first, by its status registers. */
export function readCredits({ page }: DeviceFunction): LevelCredits[] {
  const statusOf = (name: string): CreditStatus[] =>
    readNamed(page, registerNamed(blockNamed('underlying_function'), name)).fields.map((fields) => ({
      own: fields['own']!,
      ownFree: fields['own_free']!,
      sharedHeld: fields['shared_held']!,
      sharedFree: fields['shared_free']!,
    }));
  const [execution, completion] = [statusOf('level_execution_credits'), statusOf('level_completion_credits')];
  return [QualityOfServiceLevel.low, QualityOfServiceLevel.high].map((level) => ({
    level,
    execution: execution[level]!,
    completion: completion[level]!,
  }));
}
