/** A PCI function that cannot be opened: what stands in the way, and what takes it away. */
export class PciError extends Error {
  override readonly name = 'PciError';
  /** Name of the system's error number. */
  readonly code: string;
  /** The cure: a command, where there is one. */
  readonly expected: string;

  /**
   * @param code the name of a system error number: `EACCES`, `ENODEV` …
   * @param expected the cure
   */
  constructor(message: string, code: string, expected: string) {
    super(message);
    this.code = code;
    this.expected = expected;
  }
}
