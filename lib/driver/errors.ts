/** Properties of a {@link VerbsError}. */
export interface VerbsErrorDetails {
  /** Name of the system's error number, as libibverbs would set it: `EINVAL`, `EBUSY`, `ENODEV` … */
  readonly code: string;
  /** Verb that failed, with the name that libibverbs has for it spelled out: `createQueuePair`. */
  readonly verb: string;
  /** Attribute or field that was wrong. */
  readonly attribute?: string;
  /** The right value or action. */
  readonly expected?: string;
  /** Milliseconds after which the verb succeeds, where the device knows. */
  readonly retryAfter?: number;
  /** The underlying error, if any. */
  readonly cause?: unknown;
}

/** An error of a verb. The message says what was wrong and, if known, what would be right. */
export class VerbsError extends Error {
  override readonly name = 'VerbsError';
  /** Name of a system error number, as libibverbs would set it: `EINVAL`, `EBUSY`, `ENODEV` … */
  readonly code: string;
  /** Verb that failed, with the name that libibverbs has for it spelled out. */
  readonly verb: string;
  /** Path of the argument that was wrong. */
  readonly attribute: string | undefined;
  /** The right value or action. */
  readonly expected: string | undefined;
  /** Milliseconds after which the verb succeeds, where the device knows: that which is left of a time-wait. */
  readonly retryAfter: number | undefined;

  /** @param message says what was wrong and what would be right */
  constructor(message: string, { code, verb, attribute, expected, retryAfter, cause }: VerbsErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.verb = verb;
    this.attribute = attribute;
    this.expected = expected;
    this.retryAfter = retryAfter;
  }
}

/** Turns an error of native code into an error of a verb: ENOMEM if a resource ran out, ENOTSUP if memory cannot be reached. */
export function allocationError(verb: string, error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code === 'ENOTSUP') {
    const [problem, expected = 'memory of allocate()'] = error.message.split('; expected: ');
    return new VerbsError(problem!, { code: 'ENOTSUP', verb, expected, cause: error });
  }
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOMEM')) return error;
  const expected = 'less memory, or unused memory freed';
  return new VerbsError(error.message, { code: 'ENOMEM', verb, expected, cause: error });
}

/** The device answers with all ones: it was removed, or has lost its power or its link. */
export function deviceGone(verb: string, reason = 'all ones are read back from its registers'): VerbsError {
  return new VerbsError(`the device is gone: ${reason}`, {
    code: 'ENODEV',
    verb,
    expected: 'open the device again when it is back',
  });
}
