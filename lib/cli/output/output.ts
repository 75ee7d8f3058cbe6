import { Progress } from './progress.ts';

/** Where a command's text goes. */
export interface Streams {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  /** Whether a person sees the error stream as it comes. Default: no. */
  readonly isTerminal?: boolean;
  /** The same of the other stream. */
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

  /** Whether a person sees the text as it comes. */
  get isTerminal(): boolean {
    return this.streams.outIsTerminal === true;
  }

  /** Whether text may have colors: on a terminal that has them, unless NO_COLOR is set (no-color.org). */
  get hasColors(): boolean {
    const { NO_COLOR: noColor = '', TERM: terminal = '' } = process.env;
    return this.isTerminal && noColor === '' && terminal !== 'dumb';
  }

  /** Text for people; nothing with --json. */
  text(text: string): void {
    if (!this.json) this.streams.out(text);
  }

  /** The same of a table, whose first line has the titles. */
  table(text: string): void {
    this.text(this.hasColors ? text.replace(/^.*/, `${bold}$&${plain}`) : text);
  }

  /** The same of text with bars in it. */
  bars(text: string): void {
    this.text(this.hasColors ? text.replaceAll(/█+/g, `${cyan}$&${plain}`) : text);
  }

  /** A value for programs; nothing without --json. A line; 64-bit numbers beyond 2^53 are strings. */
  value(value: unknown): void {
    if (!this.json) return;
    const replace = (_: string, each: unknown): unknown => {
      if (typeof each !== 'bigint') return each;
      return each <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(each) : each.toString();
    };
    this.streams.out(`${JSON.stringify(value, replace)}\n`);
  }

  /** A note on the figures for a person; not part of them. */
  warn(text: string): void {
    this.streams.error(`hca: warning: ${text}\n`);
  }

  /** Where long runs tell how far they are. @param wanted on a stream that is no terminal too */
  progress(wanted: boolean): Progress {
    const { error, isTerminal = false } = this.streams;
    return new Progress(wanted || isTerminal ? error : undefined, isTerminal);
  }
}
