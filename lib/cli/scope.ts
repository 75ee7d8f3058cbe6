type Close<Held> = (held: Held, failure: unknown) => void | Promise<void>;

/**
 * The resources of a command, and the signal that ends it. The scope closes all resources when the command ends for any reason, the
 * newest first.
 */
export class Scope {
  /** Aborted by SIGINT and SIGTERM, which ends each wait of a command. */
  readonly signal: AbortSignal;
  private readonly closes: ((failure: unknown) => void | Promise<void>)[] = [];

  private constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  /** Runs `body` in a new scope. @throws the error of `body`, otherwise an error of closing */
  static async run<Result>(
    signal: AbortSignal,
    body: (scope: Scope) => Result | Promise<Result>,
  ): Promise<Result> {
    const scope = new Scope(signal);
    let result: Result;
    try {
      result = await body(scope);
    } catch (error) {
      await scope.close(error);
      throw error;
    }
    const [failure] = await scope.close(undefined);
    if (failure !== undefined) throw failure.error;
    return result;
  }

  /** @param close called with the error of the command; undefined: it has none */
  hold<Held>(held: Held, close: Close<Held>): Held {
    this.closes.push((failure) => close(held, failure));
    return held;
  }

  /** Adds a disposable resource, such as a device or its objects. */
  use<Held extends Disposable>(held: Held): Held {
    return this.hold(held, (object) => object[Symbol.dispose]());
  }

  /** Closes all resources, even if one cannot be closed. @returns the errors */
  private async close(failure: unknown): Promise<{ readonly error: unknown }[]> {
    const thrown: { readonly error: unknown }[] = [];
    for (let close = this.closes.pop(); close !== undefined; close = this.closes.pop()) {
      try {
        await close(failure ?? thrown[0]?.error);
      } catch (error) {
        thrown.push({ error });
      }
    }
    return thrown;
  }
}
