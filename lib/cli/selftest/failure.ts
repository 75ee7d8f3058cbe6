/** A fault that a step found, and advice on its cause. */
export class SelftestFailure extends Error {
  override readonly name = 'SelftestFailure';
  readonly advice: string;

  constructor(message: string, advice: string) {
    super(message);
    this.advice = advice;
  }
}

/** A register value: 0x and all digits. */
export function hex(value: bigint | number, digits: number): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}
