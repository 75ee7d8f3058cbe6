/** A column of results: its title, and the text of a result in it. */
export type ResultColumn<Result> = readonly [title: string, text: (result: Result) => string];

const narrowest = 12;

/** The line of titles, or that of a result: each is printed as soon as it is measured. */
export function columnsText<Result>(columns: readonly ResultColumn<Result>[], result?: Result): string {
  return `${columns
    .map(([title, text]) =>
      (result === undefined ? title : text(result)).padEnd(Math.max(narrowest, title.length + 2)),
    )
    .join('')
    .trimEnd()}\n`;
}
