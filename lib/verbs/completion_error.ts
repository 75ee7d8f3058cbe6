import type { Completion } from '../driver/completion.ts';
import { enumText } from '../spec/enum_names.ts';
import { completionStatusNames, type CompletionStatus } from '../spec/index.ts';

/** A work request that failed, as its completion reports it. */
export class CompletionError extends Error {
  override readonly name = 'CompletionError';
  /** Status of the completion; never success. */
  readonly status: CompletionStatus;
  /** Identifier of the work request, exact. */
  readonly wrId: bigint;
  /** Number of its queue pair, 24 bits. */
  readonly qpNumber: number;
  /** Detail of the failure from the device. */
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
