/** A column of a table. */
export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

/** Formats rows under titles: columns aligned, two spaces between them, no space at the ends of lines. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align = 'left' }, index) => {
        const cell = cells[index] ?? '';
        return align === 'left' ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!);
      })
      .join('  ')
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)].map((text) => `${text}\n`).join('');
}

/** Formats names and values, one pair a line, values aligned; `name` includes its indentation. */
export function list(entries: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length + 1));
  return entries.map(([name, value]) => `${`${name}:`.padEnd(width)}  ${value}`.trimEnd() + '\n').join('');
}
