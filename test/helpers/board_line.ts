import { openSync, readSync, writeSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';

import type { BoardOptions } from '../../lib/board/addon.ts';

/** A request from a test in a virtual machine to the process that holds the machine's boards, by board number. */
export type BoardRequest =
  /** Replaces a board by one with these options. */
  | { readonly board: number; readonly load: BoardOptions }
  /** A call of a method of the emulated board. */
  | { readonly board: number; readonly method: string; readonly arguments: readonly unknown[] };

export type BoardAnswer = { readonly value: unknown } | { readonly failure: string };

/** Requests and answers are lines with the serialization of v8 in base64. */
export const toLine = (message: unknown): string => `${serialize(message).toString('base64')}\n`;
export const fromLine = (line: string): unknown => deserialize(Buffer.from(line, 'base64'));

/** The serial line from the virtual machine of the tests to the process that holds its boards. */
export class BoardLine {
  private readonly file: number;
  private rest = '';

  /** @param path a terminal in raw mode */
  constructor(path: string) {
    this.file = openSync(path, 'r+');
  }

  /** Waits for the answer of the other end. @throws Error that it reports */
  ask(request: BoardRequest): unknown {
    const question = Buffer.from(toLine(request));
    for (let sent = 0; sent < question.length;) sent += writeSync(this.file, question, sent);
    const answer = fromLine(this.takeLine()) as BoardAnswer;
    if ('failure' in answer) throw new Error(answer.failure);
    return answer.value;
  }

  private takeLine(): string {
    const part = Buffer.alloc(4096);
    for (;;) {
      const end = this.rest.indexOf('\n');
      if (end >= 0) {
        const line = this.rest.slice(0, end);
        this.rest = this.rest.slice(end + 1);
        return line;
      }
      this.rest += part.toString('latin1', 0, readSync(this.file, part));
    }
  }
}
