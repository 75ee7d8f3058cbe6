import type { Completion } from '../driver/completion_queue.ts';
import { enumText } from '../spec/enum_names.ts';
import { completionStatusNames, type CompletionStatus } from '../spec/index.ts';

/** A work request that failed, as its completion says. */
export class CompletionError extends Error {
  override readonly name = 'CompletionError';
  readonly status: CompletionStatus;
  readonly wrId: bigint;
  readonly qpNumber: number;
  readonly vendorError: number;

  /** @param completion one whose status is not success */
  constructor(completion: Completion) {
    const { status, wrIdBig, queuePairNumber, vendorError } = completion;
    const name = enumText('CompletionStatus', completionStatusNames, status);
    super(`work request ${wrIdBig} of queue pair ${queuePairNumber} failed: ${name} (${vendorError})`);
    this.status = status;
    this.wrId = wrIdBig;
    this.qpNumber = queuePairNumber;
    this.vendorError = vendorError;
  }
}
