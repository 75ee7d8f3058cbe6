import { QualityOfServiceLevel } from '../spec/index.ts';
import type { DeviceFunction } from './device_function.ts';
import { blockNamed, readNamed, registerNamed } from './named_registers.ts';

/** Current credits of one kind of a level's lanes (US8484392, status of quality of service levels). */
export interface CreditStatus {
  /** Credits that the lanes own. */
  readonly own: number;
  /** Number of the lanes' own credits that are free. */
  readonly ownFree: number;
  /** Shared credits that the lanes hold. */
  readonly sharedHeld: number;
  /** Shared credits that are free for all lanes. */
  readonly sharedFree: number;
}

/** Credits of a level of a function. Credits of a lane that serves both levels count for both. */
export interface LevelCredits {
  /** The level. */
  readonly level: QualityOfServiceLevel;
  /** Execution credits. */
  readonly execution: CreditStatus;
  /** Completion credits, held until the peer acknowledges a command or, on an unreliable service, it has left. */
  readonly completion: CreditStatus;
}

/** Reads the credits of the function's levels, low first, from its status registers. */
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
