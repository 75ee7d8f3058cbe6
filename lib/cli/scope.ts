type Close<Held> = (held: Held, failure: unknown) => void | Promise<void>;

/**
 * The resources of a command, and the signal that ends it. All that it holds is closed when the command ends, the newest first, whatever ended
 * it: a command that has ended leaves nothing under way.
 */
export class Scope {
  /** Aborted by SIGINT and SIGTERM: each wait of a command ends with it. */
  readonly signal: AbortSignal;
  private readonly closes: ((failure: unknown) => void | Promise<void>)[] = [];

  private constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  /** Runs `body` in a scope of its own. @throws what `body` throws, else what closing throws */
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

  /** @param close is told what the command failed by; undefined: it has not */
  hold<Held>(held: Held, close: Close<Held>): Held {
    this.closes.push((failure) => close(held, failure));
    return held;
  }

  /** Holds what closes itself, devices and their objects. */
  use<Held extends Disposable>(held: Held): Held {
    return this.hold(held, (object) => object[Symbol.dispose]());
  }

  /** Closes all, those behind one that cannot be closed too. @returns what was thrown meanwhile */
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
