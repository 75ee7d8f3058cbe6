import { Progress } from './progress.ts';

/** The destination of a command's output. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  /** Whether the error stream is a terminal. Default false. */
  readonly isTerminal?: boolean;
  /** Whether the standard output is a terminal. Default false. */
  readonly outIsTerminal?: boolean;
}

const bold = '\x1b[1m';
const cyan = '\x1b[36m';
const plain = '\x1b[0m';

/** The output of a command: text for people, or JSON. */
export class Output {
  readonly json: boolean;
  private readonly streams: Streams;

  constructor(streams: Streams, json: boolean) {
    this.streams = streams;
    this.json = json;
  }

  /** Whether the text goes to a terminal. */
  get isTerminal(): boolean {
    return this.streams.outIsTerminal === true;
  }

  /** Whether text may have colors: on a terminal that has them, unless NO_COLOR is set (no-color.org). */
  get hasColors(): boolean {
    const { NO_COLOR: noColor = '', TERM: terminal = '' } = process.env;
    return this.isTerminal && noColor === '' && terminal !== 'dumb';
  }

  /** Prints text, unless --json is given. */
  text(text: string): void {
    if (!this.json) this.streams.out(text);
  }

  /** Prints a table whose first line has the titles, unless --json is given. */
  table(text: string): void {
    this.text(this.hasColors ? text.replace(/^.*/, `${bold}$&${plain}`) : text);
  }

  /** Prints text with bars, unless --json is given. */
  bars(text: string): void {
    this.text(this.hasColors ? text.replaceAll(/█+/g, `${cyan}$&${plain}`) : text);
  }

  /** Prints a value as a line of JSON, if --json is given; 64-bit numbers beyond 2^53 are strings. */
  value(value: unknown): void {
    if (!this.json) return;
    const replace = (_: string, each: unknown): unknown => {
      if (typeof each !== 'bigint') return each;
      return each <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(each) : each.toString();
    };
    this.streams.out(`${JSON.stringify(value, replace)}\n`);
  }

  /** Prints a note about the figures on the error stream. */
  warn(text: string): void {
    this.streams.error(`hca: warning: ${text}\n`);
  }

  /** Progress output of long runs. @param wanted also on a stream that is not a terminal */
  progress(wanted: boolean): Progress {
    const { error, isTerminal = false } = this.streams;
    return new Progress(wanted || isTerminal ? error : undefined, isTerminal);
  }
}
