/** The program of `hca run` has ended. Its exit code is that of `hca`. */
export class ProgramEnd extends Error {
  override readonly name = 'ProgramEnd';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`the program ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}
