/** The program that `hca run` ran has ended: its exit code is that of `hca`. */
export class ProgramEnd extends Error {
  override readonly name = 'ProgramEnd';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`the program ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}
