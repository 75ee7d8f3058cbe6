/** A column of results: its title, and the text for a result. */
export type ResultColumn<Result> = readonly [title: string, text: (result: Result) => string];

const narrowest = 12;

/** Formats the line of titles, or of a result, which is printed as soon as it is measured. */
export function columnsText<Result>(columns: readonly ResultColumn<Result>[], result?: Result): string {
  return `${columns
    .map(([title, text]) =>
      (result === undefined ? title : text(result)).padEnd(Math.max(narrowest, title.length + 2)),
    )
    .join('')
    .trimEnd()}\n`;
}
